-- drop_names: delete the identifiers, tags and notes of units that are about to be deleted.
create or replace function register.drop_names(
  p_owner  text,
  p_ids    integer[]
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  case p_owner
    when 'legal_unit_id' then
      delete from register.external_ident as i where i.legal_unit_id = any (p_ids);
      delete from register.tag_for_unit as t where t.legal_unit_id = any (p_ids);
      delete from register.unit_notes as n where n.legal_unit_id = any (p_ids);
    when 'establishment_id' then
      delete from register.external_ident as i where i.legal_unit_id is null and i.establishment_id = any (p_ids);
      delete from register.tag_for_unit as t where t.legal_unit_id is null and t.establishment_id = any (p_ids);
      delete from register.unit_notes as n where n.legal_unit_id is null and n.establishment_id = any (p_ids);
  end case;
end;
$$;
