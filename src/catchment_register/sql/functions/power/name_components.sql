-- name_components: a power group for each label of g_unit, in g_component: one that its relationships had, or a new
-- one.
--
--   reads   pg_temp.g_unit
--   writes  pg_temp.g_component
--   plan    no_jit
create or replace function register.name_components()
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if not register.has_scratch('g_component') then
    create temporary table g_component (label integer primary key, power_group_id integer) on commit delete rows;
  end if;
  -- Empty, unless this transaction has been here before.
  delete from pg_temp.g_component;

  insert into pg_temp.g_component (label, power_group_id)
  with claim as (
    select u.label, r.derived_power_group_id as power_group_id, count(*) as n
      from register.legal_relationship as r
      join pg_temp.g_unit as u on u.unit_id = r.influenced_id
     where r.influenced_id = any (array(select g.unit_id from pg_temp.g_unit as g))
       and r.derived_power_group_id is not null
     group by u.label, r.derived_power_group_id
  ),
  won as (
    select distinct on (c.power_group_id) c.power_group_id, c.label, c.n
      from claim as c
     order by c.power_group_id, c.n desc, c.label
  )
  select l.label, w.power_group_id
    from (select distinct u.label from pg_temp.g_unit as u) as l
    left join (select distinct on (o.label) o.label, o.power_group_id
                 from won as o
                order by o.label, o.n desc, o.power_group_id) as w on w.label = l.label;

  with made as (
    update pg_temp.g_component as c
       set power_group_id = nextval(pg_get_serial_sequence('register.power_group', 'id'))::integer
     where c.power_group_id is null
    returning c.power_group_id
  )
  insert into register.power_group (id, ident)
  select m.power_group_id, register.power_ident(m.power_group_id) from made as m;
end;
$$;
