-- edit_names: set or remove identifiers and tags of a unit; returns the remaining changes. tag_path adds a tag; empty,
-- it removes all tags.
--
--   raises  RG008 the edit is invalid
create or replace function register.edit_names(
  p_owner    text,
  p_unit_id  integer,
  p_changes  jsonb,
  p_comment  text
)
  returns jsonb
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_key   register.external_ident := jsonb_populate_record(null::register.external_ident,
                                                           jsonb_build_object(p_owner, p_unit_id));
  v_ident record;
begin
  for v_ident in
    select t.id, t.code, nullif(btrim(c.value), '') as ident
      from jsonb_each_text(p_changes) as c
      join register.external_ident_type as t on t.code = c.key and t.enabled
  loop
    p_changes := p_changes - v_ident.code;
    if exists (select from register.external_ident as e
                where e.type_id = v_ident.id and e.ident = v_ident.ident
                  and (e.legal_unit_id, e.establishment_id, e.enterprise_id, e.power_group_id) is distinct from
                      (v_key.legal_unit_id, v_key.establishment_id, v_key.enterprise_id, v_key.power_group_id)) then
      perform register.refuse_edit(format('another unit has the %s %s', v_ident.code, v_ident.ident));
    end if;
    delete from register.external_ident as e
     where e.type_id = v_ident.id
       and (e.legal_unit_id, e.establishment_id, e.enterprise_id, e.power_group_id) is not distinct from
           (v_key.legal_unit_id, v_key.establishment_id, v_key.enterprise_id, v_key.power_group_id)
       and e.ident is distinct from v_ident.ident;
    if v_ident.ident is not null then
      insert into register.external_ident (type_id, ident, legal_unit_id, establishment_id, enterprise_id,
                                           power_group_id, edit_comment)
      values (v_ident.id, v_ident.ident, v_key.legal_unit_id, v_key.establishment_id, v_key.enterprise_id,
              v_key.power_group_id, p_comment)
      on conflict (type_id, ident) do nothing;
    end if;
  end loop;

  if p_changes ->> 'tag_path' = '' then
    delete from register.tag_for_unit as t
     where (t.legal_unit_id, t.establishment_id, t.enterprise_id, t.power_group_id) is not distinct from
           (v_key.legal_unit_id, v_key.establishment_id, v_key.enterprise_id, v_key.power_group_id);
  elsif p_changes ? 'tag_path' then
    insert into register.tag_for_unit (tag_id, legal_unit_id, establishment_id, enterprise_id, power_group_id,
                                       edit_comment)
    values (register.code_id('tag', p_changes ->> 'tag_path'), v_key.legal_unit_id, v_key.establishment_id,
            v_key.enterprise_id, v_key.power_group_id, p_comment)
    on conflict do nothing;
  end if;
  return p_changes - 'tag_path';
end;
$$;
