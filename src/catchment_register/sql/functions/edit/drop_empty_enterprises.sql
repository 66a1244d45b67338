-- drop_empty_enterprises: delete enterprises that no unit ever belonged to and nothing else refers to.
create or replace function register.drop_empty_enterprises(p_ids integer[])
  returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  delete from register.enterprise as e
   where e.id = any (p_ids)
     and not exists (select from register.legal_unit as l where l.enterprise_id = e.id)
     and not exists (select from register.establishment as s where s.enterprise_id = e.id)
     and not exists (select from register.external_ident as i
                      where i.legal_unit_id is null and i.establishment_id is null and i.enterprise_id = e.id)
     and not exists (select from register.tag_for_unit as t
                      where t.legal_unit_id is null and t.establishment_id is null and t.enterprise_id = e.id)
     and not exists (select from register.unit_notes as n
                      where n.legal_unit_id is null and n.establishment_id is null and n.enterprise_id = e.id);
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
