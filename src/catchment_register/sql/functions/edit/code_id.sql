-- code_id: the id of a code as it was entered: sector, region, activity, legal_form, status, unit_size,
-- data_source, country, rel_type, tag, stat or ident_type. Null stays null. An activity of the standard that is not in
-- its list is added, as an import does.
--
--   raises  RG004 the code is not in its list
create or replace function register.code_id(
  p_kind  text,
  p_text  text
)
  returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_id integer;
begin
  if p_text is null then
    return null;
  end if;
  for v_try in 1 .. case p_kind when 'activity' then 2 else 1 end loop
    if v_try = 2 then
      perform register.add_activities(s.activity_category_standard_id, array[p_text]) from register.settings as s;
    end if;
    select k.id into v_id
      from register.code_key as k
     where k.kind = p_kind
       and k.key = case p_kind when 'activity' then register.activity_key(p_text) else p_text end;
    exit when v_id is not null;
  end loop;
  if v_id is null then
    perform register.refuse_edit(format('there is no %s %s', replace(p_kind, '_', ' '), p_text),
                                 'Add it first: catchment register load-codes.', 'RG004');
  end if;
  return v_id;
end;
$$;
