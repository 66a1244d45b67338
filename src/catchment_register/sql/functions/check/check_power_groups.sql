-- check_power_groups: published power groups against relationships and published legal units, by what must hold on each
-- day. While changes wait or a round is open, published data are behind: then nothing is compared.
--
--   plan    no_jit, memory_128
create or replace function register.check_power_groups()
  returns table (rule text, detail text)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with published as materialized (
    select r.unit_id, r.valid_from, r.valid_until, r.related_legal_unit_ids, r.included_legal_unit_ids,
           r.primary_legal_unit_id, r.moments
      from register.statistical_unit_row as r
     where r.unit_type = 'power_group'
       and not exists (select from register.base_change_log)
       and not exists (select from register.round as o where o.state = 'open')
  ),
  relation as materialized (
    select r.derived_power_group_id as group_id, e.id as unit_id, r.valid_from, r.valid_until
      from register.legal_relationship as r
     cross join lateral (values (r.influencing_id), (r.influenced_id)) as e (id)
     where not exists (select from register.base_change_log)
       and not exists (select from register.round as o where o.state = 'open')
  ),
  -- The row that each legal unit of a group has when a row of the group begins.
  member as materialized (
    select p.unit_id, p.valid_from, p.valid_until, u.id, l.valid_until as member_until, l.used_for_counting, l.moments
      from published as p
     cross join lateral unnest(p.related_legal_unit_ids) as u (id)
      left join register.statistical_unit_row as l
        on l.unit_type = 'legal_unit' and l.unit_id = u.id
       and l.valid_from <= p.valid_from and p.valid_from < l.valid_until
  )
  select 'units that are related are in one power group', format('legal unit %s', r.unit_id)
    from relation as r
   group by r.unit_id
  having count(distinct coalesce(r.group_id, 0)) > 1
  union all
  select 'a power group is what its legal units are at the time',
         format('power group %s from %s: its legal units', p.unit_id, p.valid_from)
    from published as p
   where p.related_legal_unit_ids is distinct from
         (select array_agg(distinct r.unit_id order by r.unit_id) from relation as r
           where r.group_id = p.unit_id and r.valid_from <= p.valid_from and p.valid_until <= r.valid_until)
      or (p.primary_legal_unit_id = any (p.related_legal_unit_ids)) is not true
  union all
  select 'a power group is what its legal units are at the time',
         format('power group %s is missing from %s', g.group_id, lower(t))
    from (select r.group_id, range_agg(daterange(r.valid_from, r.valid_until)) as times
            from relation as r
           where r.group_id is not null
           group by r.group_id) as g
    left join (select p.unit_id, range_agg(daterange(p.valid_from, p.valid_until)) as times
                 from published as p
                group by p.unit_id) as p on p.unit_id = g.group_id
   cross join lateral unnest(g.times - coalesce(p.times, '{}')) as t
  union all
  select 'a power group is what its legal units are at the time',
         format('power group %s from %s: legal unit %s changes on %s', m.unit_id, m.valid_from, m.id, m.member_until)
    from member as m
   where (m.member_until >= m.valid_until) is not true
  union all
  select 'a power group is what its legal units are at the time',
         format('power group %s from %s: figures of variable %s', coalesce(p.unit_id, m.unit_id),
                coalesce(p.valid_from, m.valid_from), coalesce(p.stat_definition_id, m.stat_definition_id))
    from (select p.unit_id, p.valid_from, v.stat_definition_id, v.n, v.total
            from published as p
           cross join lateral unnest(p.moments) as v) as p
    full join (select m.unit_id, m.valid_from, v.stat_definition_id, sum(v.n) as n, sum(v.total) as total
                 from member as m
                cross join lateral unnest(m.moments) as v
                where m.used_for_counting
                group by m.unit_id, m.valid_from, v.stat_definition_id) as m
      on m.unit_id = p.unit_id and m.valid_from = p.valid_from and m.stat_definition_id = p.stat_definition_id
   where (p.n, p.total) is distinct from (m.n, m.total);
$$;
