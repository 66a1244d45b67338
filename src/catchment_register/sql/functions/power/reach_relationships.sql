-- reach_relationships: collect in g_unit all legal units that are connected with the given ones by relationships of any
-- time, each with the smallest id it is connected with as its label, and in g_edge who influences whom. g_unit.level:
-- how far a unit is below the nearest one that nobody influences; null if none of these reaches it.
--
--   reads   pg_temp.g_edge, pg_temp.g_unit
--   writes  pg_temp.g_edge, pg_temp.g_unit
--   plan    no_jit
create or replace function register.reach_relationships(p_legal_unit_ids int4multirange)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_frontier integer[] := register.id_array(p_legal_unit_ids);
  v_depth    integer := 0;
begin
  if not register.has_scratch('g_unit', 'g_edge') then
    create temporary table g_unit (unit_id integer primary key, label integer not null,
                                   level integer) on commit delete rows;
    create temporary table g_edge (influencing_id integer not null, influenced_id integer not null,
                                   primary key (influencing_id, influenced_id)) on commit delete rows;
  end if;
  -- Empty, unless this transaction has been here before.
  delete from pg_temp.g_unit;
  delete from pg_temp.g_edge;

  while v_frontier <> '{}' loop
    insert into pg_temp.g_edge
    select r.influencing_id, r.influenced_id from register.legal_relationship as r
     where r.influencing_id = any (v_frontier)
    union
    select r.influencing_id, r.influenced_id from register.legal_relationship as r
     where r.influenced_id = any (v_frontier)
    on conflict do nothing;
    with found as (
      insert into pg_temp.g_unit (unit_id, label)
      select x.id, x.id
        from (select e.influencing_id as id from pg_temp.g_edge as e union select e.influenced_id
                from pg_temp.g_edge as e) as x
      on conflict do nothing
      returning unit_id
    )
    select coalesce(array_agg(f.unit_id), '{}') into v_frontier from found as f;
    v_frontier := array(select unnest(v_frontier) except select unnest(register.id_array(p_legal_unit_ids)));
  end loop;

  loop
    update pg_temp.g_unit as u
       set label = n.label
      from (select x.unit_id, min(o.label) as label
              from (select e.influencing_id as unit_id, e.influenced_id as other_id from pg_temp.g_edge as e
                    union all
                    select e.influenced_id, e.influencing_id from pg_temp.g_edge as e) as x
              join pg_temp.g_unit as o on o.unit_id = x.other_id
             group by x.unit_id) as n
     where n.unit_id = u.unit_id
       and n.label < u.label;
    exit when not found;
  end loop;

  update pg_temp.g_unit as u set level = 0
   where not exists (select from pg_temp.g_edge as e where e.influenced_id = u.unit_id);
  while found loop
    update pg_temp.g_unit as u
       set level = v_depth + 1
      from pg_temp.g_edge as e
      join pg_temp.g_unit as i on i.unit_id = e.influencing_id and i.level = v_depth
     where e.influenced_id = u.unit_id
       and u.level is null;
    v_depth := v_depth + 1;
  end loop;
end;
$$;
