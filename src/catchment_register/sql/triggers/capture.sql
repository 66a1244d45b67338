-- Change capture: each statement on base data notes which units it touched, by its old rows and by its new ones, and
-- the transaction asks once, as it commits, for a collection.
do $$
declare
  v_statement text;
begin
  for v_statement in
    select format('create or replace trigger capture_%s after %s on register.%I referencing %s table as changed'
                  ' for each statement execute function register.capture_%s()', e.name, e.event, c.table_name, e.side,
                  c.capture)
      from (values ('enterprise', 'enterprise'), ('legal_unit', 'legal_unit'), ('establishment', 'establishment'),
                   ('activity', 'owned'), ('location', 'owned'), ('contact', 'owned'), ('stat_for_unit', 'owned'),
                   ('person_for_unit', 'owned'), ('external_ident', 'named'), ('tag_for_unit', 'named'),
                   ('legal_relationship', 'relationship'), ('power_group', 'power_group'), ('power_root', 'power_root'))
           as c (table_name, capture)
     cross join (values ('insert', 'insert', 'new'), ('update_from', 'update', 'old'), ('update_to', 'update', 'new'),
                        ('delete', 'delete', 'old')) as e (name, event, side)
    union all
    select format('create or replace trigger capture_%s after update on register.%I'
                  ' referencing old table as was new table as changed'
                  ' for each statement execute function register.capture_%1$s()', c.capture, c.table_name)
      from (values ('region', 'path'), ('activity_category', 'path'), ('sector', 'path'), ('status', 'status'))
           as c (table_name, capture)
  loop
    execute v_statement;
  end loop;
end;
$$;

drop trigger if exists request_collect on register.base_change_log;
create constraint trigger request_collect after insert on register.base_change_log
  deferrable initially deferred for each row when (new.round_id is null) execute function register.request_collect();
