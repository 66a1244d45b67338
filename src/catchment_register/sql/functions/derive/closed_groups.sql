-- closed_groups: fill p_group with enterprises and their labels. Enterprises that share a legal unit or an
-- establishment, at the same time or not, have the same label: whatever is made from units of one label needs no unit
-- of another. Units that ever belonged to two enterprises are few; they are found first, and labels spread along them
-- alone. p_enterprise_ids: where to begin. null: everywhere; then only those that share something are listed.
--
--   reads   pg_temp.p_bridge, pg_temp.p_group
--   writes  pg_temp.p_bridge, pg_temp.p_group
--   plan    no_jit
create or replace function register.closed_groups(p_enterprise_ids integer[])
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if not register.has_scratch('p_group', 'p_bridge') then
    create temporary table p_group (enterprise_id integer primary key, label integer not null) on commit delete rows;
    create temporary table p_bridge (unit_type text not null, unit_id integer not null, enterprise_id integer not null,
                                     primary key (unit_type, unit_id, enterprise_id)) on commit delete rows;
  end if;
  -- Empty, unless this transaction has been here before.
  delete from pg_temp.p_group;
  delete from pg_temp.p_bridge;
  if p_enterprise_ids is null then
    perform register.find_all_bridges();
    insert into pg_temp.p_group select distinct b.enterprise_id, b.enterprise_id from pg_temp.p_bridge as b;
  else
    perform register.follow_bridges(p_enterprise_ids);
  end if;

  loop
    update pg_temp.p_group as g
       set label = n.label
      from (select b.enterprise_id, min(m.label) as label
              from pg_temp.p_bridge as b
              join (select o.unit_type, o.unit_id, min(h.label) as label
                      from pg_temp.p_bridge as o
                      join pg_temp.p_group as h on h.enterprise_id = o.enterprise_id
                     group by o.unit_type, o.unit_id) as m on m.unit_type = b.unit_type and m.unit_id = b.unit_id
             group by b.enterprise_id) as n
     where g.enterprise_id = n.enterprise_id
       and n.label < g.label;
    exit when not found;
  end loop;
end;
$$;
