-- follow_bridges: fill p_group with the given enterprises and all that they are connected with, and p_bridge with what
-- connects them. Costs index probes of the units of these enterprises, and ends at once where nothing is shared.
--
--   reads   pg_temp.p_group
--   writes  pg_temp.p_bridge, pg_temp.p_group
--   plan    no_jit, indexed
create or replace function register.follow_bridges(p_enterprise_ids integer[])
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_frontier       integer[] := p_enterprise_ids;
  v_legal_units    integer[];
  v_establishments integer[];
begin
  while v_frontier <> '{}' loop
    insert into pg_temp.p_group select f.id, f.id from unnest(v_frontier) as f (id);
    v_legal_units := array(select u.id from register.legal_unit as u where u.enterprise_id = any (v_frontier));
    v_establishments := array(select e.id from register.establishment as e where e.legal_unit_id = any (v_legal_units)
                              union all
                              select e.id from register.establishment as e where e.enterprise_id = any (v_frontier));
    with belongs as (
      select 'legal_unit' as unit_type, u.id, u.enterprise_id
        from register.legal_unit as u
       where u.id = any (v_legal_units)
      union
      select 'establishment', e.id, u.enterprise_id
        from register.establishment as e
        join register.legal_unit as u on u.id = e.legal_unit_id
       where e.id = any (v_establishments)
      union
      select 'establishment', e.id, e.enterprise_id
        from register.establishment as e
       where e.id = any (v_establishments) and e.enterprise_id is not null
    ),
    shared as (
      insert into pg_temp.p_bridge
      select b.unit_type, b.id, b.enterprise_id
        from (select x.*, min(x.enterprise_id) over w <> max(x.enterprise_id) over w as is_bridge
                from belongs as x
              window w as (partition by x.unit_type, x.id)) as b
       where b.is_bridge
      on conflict do nothing
      returning enterprise_id
    )
    select coalesce(array_agg(distinct s.enterprise_id), '{}') into v_frontier
      from shared as s
     where not exists (select from pg_temp.p_group as g where g.enterprise_id = s.enterprise_id);
  end loop;
end;
$$;
