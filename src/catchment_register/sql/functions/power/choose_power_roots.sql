-- choose_power_roots: the root of each group of g_component whose relationships do not tell it, because all its units
-- are influenced or several are not: the one that influences most others, directly or through them. A root that a user
-- chose stays while it is in the group, for its time; ours has the rest. A group with one top needs no row.
--
--   reads   pg_temp.g_component, pg_temp.g_edge, pg_temp.g_root, pg_temp.g_unit
--   writes  pg_temp.g_root
--   plan    no_jit
create or replace function register.choose_power_roots()
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform register.has_scratch('g_root');
  create temporary table g_root on commit drop as
  with recursive
  unclear as (
    select u.label from pg_temp.g_unit as u group by u.label having count(*) filter (where u.level = 0) <> 1
  ),
  reach as (
    select u.label, e.influencing_id as unit_id, e.influenced_id as other_id
      from pg_temp.g_edge as e
      join pg_temp.g_unit as u on u.unit_id = e.influencing_id
      join unclear as x on x.label = u.label
    union
    select r.label, r.unit_id, e.influenced_id
      from reach as r
      join pg_temp.g_edge as e on e.influencing_id = r.other_id
  )
  select distinct on (r.label) c.power_group_id, r.unit_id as root_id,
         (select min(l.valid_from) from register.legal_relationship as l
           where l.derived_power_group_id = c.power_group_id)
           as valid_from
    from reach as r
    join pg_temp.g_component as c on c.label = r.label
   group by r.label, c.power_group_id, r.unit_id
   order by r.label, count(*) filter (where r.other_id <> r.unit_id) desc, r.unit_id;

  delete from register.power_root as p
   using pg_temp.g_component as c
   where p.power_group_id = c.power_group_id
     and p.custom_root_legal_unit_id is not null
     and not exists (select from pg_temp.g_unit as u where u.unit_id = p.custom_root_legal_unit_id
                        and u.label = c.label);
  update register.power_root as p
     set derived_root_legal_unit_id = g.root_id
    from pg_temp.g_component as c
    left join pg_temp.g_root as g on g.power_group_id = c.power_group_id
   where p.power_group_id = c.power_group_id
     and p.custom_root_legal_unit_id is not null
     and p.derived_root_legal_unit_id is distinct from g.root_id;

  with wanted as materialized (
    select g.power_group_id, g.root_id, lower(t) as valid_from, coalesce(upper(t), 'infinity') as valid_until
      from pg_temp.g_root as g
     cross join lateral unnest(
       datemultirange(daterange(g.valid_from, 'infinity'))
       - coalesce((select range_agg(daterange(p.valid_from, p.valid_until)) from register.power_root as p
                    where p.power_group_id = g.power_group_id and p.custom_root_legal_unit_id is not null),
                  '{}')) as t
  ),
  gone as (
    delete from register.power_root as p
     using pg_temp.g_component as c
     where p.power_group_id = c.power_group_id
       and p.custom_root_legal_unit_id is null
       and not exists (select from wanted as w
                        where (w.power_group_id, w.root_id, w.valid_from, w.valid_until)
                              = (p.power_group_id, p.derived_root_legal_unit_id, p.valid_from, p.valid_until))
    returning 1
  )
  insert into register.power_root (power_group_id, valid_from, valid_until, derived_root_legal_unit_id)
  select w.power_group_id, w.valid_from, w.valid_until, w.root_id
    from wanted as w
   where not exists (select from register.power_root as p
                      where (w.power_group_id, w.root_id, w.valid_from, w.valid_until)
                            = (p.power_group_id, p.derived_root_legal_unit_id, p.valid_from, p.valid_until))
     -- The old rows go first: a new one may start on the same day.
     and (select count(*) from gone) >= 0;
  drop table pg_temp.g_root;
end;
$$;
