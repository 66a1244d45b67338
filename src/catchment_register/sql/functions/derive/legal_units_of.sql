-- legal_units_of: the legal units that ever belonged to one of the enterprises, in order.
--
--   plan    no_jit, generic, indexed
create or replace function register.legal_units_of(p_enterprise_ids integer[])
  returns integer[]
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return array(select distinct u.id from register.legal_unit as u where u.enterprise_id = any (p_enterprise_ids)
                order by u.id);
end;
$$;
