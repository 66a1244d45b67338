-- find_all_bridges: fill p_bridge with the units of the register that ever belonged to more than one enterprise, once
-- for each of them. An establishment belongs to the enterprises that its legal units belong to at any time.
--
--   writes  pg_temp.p_bridge
--   plan    no_jit, memory_128
create or replace function register.find_all_bridges()
  returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  insert into pg_temp.p_bridge
  select distinct 'legal_unit', u.id, u.enterprise_id
    from register.legal_unit as u
   where u.id in (select m.id from register.legal_unit as m group by m.id
                  having min(m.enterprise_id) <> max(m.enterprise_id));

  insert into pg_temp.p_bridge
  select distinct 'establishment', e.id, coalesce(e.enterprise_id, u.enterprise_id)
    from register.establishment as e
    left join register.legal_unit as u on u.id = e.legal_unit_id
   where e.id in (select m.id from register.establishment as m
                   group by m.id
                  having min(coalesce(m.legal_unit_id, -m.enterprise_id))
                         <> max(coalesce(m.legal_unit_id, -m.enterprise_id)));
$$;
