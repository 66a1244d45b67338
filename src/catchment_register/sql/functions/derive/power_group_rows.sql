-- power_group_rows: the segments of power groups, cut where a relationship begins or ends; the legal units that are
-- related in each, with the latest of their rows in it; and the statistics of those that count. The root describes a
-- group, except for names of its own: the one written down for the time, else the one that nobody influences. A group
-- always counts.
--
--   reads   pg_temp.b_own, pg_temp.b_part, pg_temp.b_relation, pg_temp.b_segment
--   writes  pg_temp.b_part, pg_temp.b_row, pg_temp.b_segment
--   plan    no_jit, unlooped
create or replace function register.power_group_rows(p_power_group_ids integer[])
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into pg_temp.b_segment
  select 'power_group', x.unit_id, x.at, x.next_at
    from (select p.unit_id, p.at, lead(p.at) over (partition by p.unit_id order by p.at) as next_at
            from (select r.power_group_id as unit_id, r.valid_from as at from pg_temp.b_relation as r
                  union
                  select r.power_group_id, r.valid_until from pg_temp.b_relation as r) as p) as x
   where x.next_at is not null;

  insert into pg_temp.b_part
  select distinct on (s.unit_id, s.valid_from, u.unit_id)
         'power_group', s.unit_id, s.valid_from, 'legal_unit', u.unit_id, u.valid_from, u.used_for_counting, true,
         false, u.enterprise_id
    from pg_temp.b_segment as s
    join pg_temp.b_relation as r on r.power_group_id = s.unit_id
                                and r.valid_from <= s.valid_from and s.valid_until <= r.valid_until
   cross join lateral (values (r.influencing_id), (r.influenced_id)) as m (unit_id)
    join pg_temp.b_own as u on u.unit_type = 'legal_unit' and u.unit_id = m.unit_id
                           and u.valid_from < s.valid_until and s.valid_from < u.valid_until
   where s.unit_type = 'power_group'
   order by s.unit_id, s.valid_from, u.unit_id, u.valid_from desc;
  perform register.parts_of_parts('power_group', true);

  insert into pg_temp.b_row
  with told as (
    select distinct on (s.unit_id, s.valid_from) s.unit_id, s.valid_from, p.root_legal_unit_id as root_id
      from pg_temp.b_segment as s
      join (select w.* from register.power_root as w where w.power_group_id = any (p_power_group_ids)) as p
        on p.power_group_id = s.unit_id and p.valid_from < s.valid_until and s.valid_from < p.valid_until
     where s.unit_type = 'power_group'
     order by s.unit_id, s.valid_from, p.valid_from desc
  ),
  top as (
    select r.power_group_id, min(r.influencing_id) as root_id
      from pg_temp.b_relation as r
     where not exists (select from pg_temp.b_relation as o
                        where o.power_group_id = r.power_group_id and o.influenced_id = r.influencing_id)
     group by r.power_group_id
  )
  select distinct on (s.unit_id, s.valid_from)
         'power_group', s.unit_id, s.valid_from, s.valid_until, u.unit_type, u.unit_id, u.valid_from,
         coalesce(nullif(g.short_name, ''), nullif(g.name, '')), true, coalesce(w.root_id, t.root_id), null, g.edit_at,
         g.edit_by, g.edit_comment
    from pg_temp.b_segment as s
    join (select distinct p.unit_id, p.valid_from from pg_temp.b_part as p where p.unit_type = 'power_group') as h
      on h.unit_id = s.unit_id and h.valid_from = s.valid_from
    join (select x.* from register.power_group as x where x.id = any (p_power_group_ids)) as g on g.id = s.unit_id
    left join told as w on w.unit_id = s.unit_id and w.valid_from = s.valid_from
    left join top as t on t.power_group_id = s.unit_id
    left join pg_temp.b_own as u on u.unit_type = 'legal_unit' and u.unit_id = coalesce(w.root_id, t.root_id)
                                and u.valid_from < s.valid_until and s.valid_from < u.valid_until
   where s.unit_type = 'power_group'
   order by s.unit_id, s.valid_from, u.valid_from desc nulls last;
  perform register.merge_parts('power_group');
end;
$$;
