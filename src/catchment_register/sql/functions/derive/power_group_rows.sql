-- power_group_rows: the segments of power groups, the legal units that are related in each, and the statistics of those
-- that count. Time is cut where a relationship begins or ends, where a chosen root does, and where something about a
-- legal unit begins or ends while it is in the group. The root describes a group, except for its own names: of the
-- units in it at the time the one written down for that time, else one that nobody ever influences, else one that
-- nobody influences then; of several, the smallest id. A group always counts.
--
-- Segments of a group are numbered, so that each row of a unit finds its own without being held against all of them.
--
--   reads   pg_temp.b_own, pg_temp.b_part, pg_temp.b_relation, pg_temp.b_segment
--   writes  pg_temp.b_part, pg_temp.b_row, pg_temp.b_segment
--   plan    no_jit, unlooped
create or replace function register.power_group_rows(p_power_group_ids integer[])
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- Rows of legal units, for the time that each is in its group.
  with member as materialized (
    select m.power_group_id, o.unit_id, o.valid_from as own_from, o.used_for_counting, o.enterprise_id,
           greatest(o.valid_from, lower(m.times)) as valid_from, least(o.valid_until, upper(m.times)) as valid_until
      from (select e.power_group_id, e.unit_id, unnest(range_agg(daterange(e.valid_from, e.valid_until))) as times
              from (select r.power_group_id, r.influencing_id as unit_id, r.valid_from, r.valid_until
                      from pg_temp.b_relation as r
                    union all
                    select r.power_group_id, r.influenced_id, r.valid_from, r.valid_until
                      from pg_temp.b_relation as r) as e
             group by e.power_group_id, e.unit_id) as m
      join pg_temp.b_own as o
        on o.unit_type = 'legal_unit' and o.unit_id = m.unit_id
       and o.valid_from < upper(m.times) and lower(m.times) < o.valid_until
  ),
  point as (
    select r.power_group_id as unit_id, r.valid_from as at from pg_temp.b_relation as r
    union
    select r.power_group_id, r.valid_until from pg_temp.b_relation as r
    union
    select w.power_group_id, d.at
      from register.power_root as w
     cross join lateral unnest(array[w.valid_from, w.valid_until]) as d (at)
     where w.power_group_id = any (p_power_group_ids)
       and w.custom_root_legal_unit_id is not null
    union
    select m.power_group_id, m.valid_from from member as m
    union
    select m.power_group_id, m.valid_until from member as m
  ),
  segment as materialized (
    select x.*, row_number() over (partition by x.unit_id order by x.valid_from) as n
      from (select p.unit_id, p.at as valid_from,
                   lead(p.at) over (partition by p.unit_id order by p.at) as valid_until
              from point as p) as x
     where x.valid_until is not null
  ),
  part as (
    insert into pg_temp.b_part
    select 'power_group', s.unit_id, s.valid_from, 'legal_unit', m.unit_id, m.own_from, m.used_for_counting, true,
           false, m.enterprise_id
      from (select g.*, generate_series(a.n, b.n) as n
              from member as g
              join segment as a on a.unit_id = g.power_group_id and a.valid_from = g.valid_from
              join segment as b on b.unit_id = g.power_group_id and b.valid_until = g.valid_until) as m
      join segment as s on s.unit_id = m.power_group_id and s.n = m.n
  )
  insert into pg_temp.b_segment
  select 'power_group', s.unit_id, s.valid_from, s.valid_until from segment as s;
  perform register.parts_of_parts('power_group', true);

  insert into pg_temp.b_row
  with chosen as (
    select s.unit_id, s.valid_from, p.root_legal_unit_id as root_id
      from pg_temp.b_segment as s
      join (select w.* from register.power_root as w where w.power_group_id = any (p_power_group_ids)) as p
        on p.power_group_id = s.unit_id and p.valid_from <= s.valid_from and s.valid_from < p.valid_until
     where s.unit_type = 'power_group'
  ),
  led as (
    select distinct r.power_group_id, r.influenced_id from pg_temp.b_relation as r
  ),
  -- The best place and the smallest id in one number: no rows need be sorted.
  root as (
    select p.unit_id, p.valid_from,
           (min((case when p.part_id = w.root_id then 0 when e.influenced_id is null then 1
                      when r.influenced_id is null then 2 else 3 end::bigint << 32) + p.part_id)
            & 4294967295)::integer as root_id
      from pg_temp.b_part as p
      left join chosen as w on w.unit_id = p.unit_id and w.valid_from = p.valid_from
      left join led as e on e.power_group_id = p.unit_id and e.influenced_id = p.part_id
      left join pg_temp.b_relation as r
        on r.power_group_id = p.unit_id and r.influenced_id = p.part_id
       and r.valid_from <= p.valid_from and p.valid_from < r.valid_until
     where p.unit_type = 'power_group' and p.part_type = 'legal_unit'
     group by p.unit_id, p.valid_from
  )
  select 'power_group', s.unit_id, s.valid_from, s.valid_until, p.part_type, p.part_id, p.part_from,
         coalesce(nullif(g.short_name, ''), nullif(g.name, '')), true, p.part_id, null, g.edit_at, g.edit_by,
         g.edit_comment
    from pg_temp.b_segment as s
    join root as t on t.unit_id = s.unit_id and t.valid_from = s.valid_from
    join pg_temp.b_part as p
      on p.unit_type = s.unit_type and p.unit_id = s.unit_id and p.valid_from = s.valid_from
     and p.part_type = 'legal_unit' and p.part_id = t.root_id
    join (select x.* from register.power_group as x where x.id = any (p_power_group_ids)) as g on g.id = s.unit_id
   where s.unit_type = 'power_group';
  perform register.merge_parts('power_group');
end;
$$;
