-- collect_history_cells: unit rows as cells of the history, see collect_cells. Cells are few and large: values are
-- summed variable by variable. The smallest value of many is nearly always 0, 1 or what it was before: how many rows
-- hold it is counted on the way, so that the next one of them that goes need not be looked up. Other extremes are left
-- uncounted. Units with values that are no numbers stay on their own.
--
--   reads   pg_temp.known_min
--   writes  pg_temp.known_min
--   plan    no_jit, unsorted, memory_128
create or replace function register.collect_history_cells(
  p_round_id       bigint,
  p_partition_seq  integer,
  p_source         text,
  p_from_flush     bigint,
  p_to_flush       bigint
)
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  delete from pg_temp.known_min;
  insert into pg_temp.known_min (unit_type, stat_definition_id, value)
  select h.unit_type, m.stat_definition_id, mode() within group (order by m.min)
    from register.statistical_history_row as h
   cross join lateral unnest(h.moments) as m
   where p_source <> 'changes'
   group by h.unit_type, m.stat_definition_id;
  -- Before anything is published, the smallest value that was reported is the best guess: most units have one of their
  -- own.
  if not found and p_source = 'all' then
    insert into pg_temp.known_min (unit_type, stat_definition_id, value)
    select t.unit_type, s.stat_definition_id, s.value
      from (select v.establishment_id is null as is_legal, v.stat_definition_id,
                   least(min(v.value_int)::numeric, min(v.value_float)::numeric) as value
              from register.stat_for_unit as v
             group by 1, 2) as s
      join (values (false, 'establishment'), (true, 'legal_unit'), (true, 'enterprise')) as t (is_legal, unit_type)
        on t.is_legal = s.is_legal
     where s.value is not null;
  end if;

  insert into register.report_cell (round_id, report, partition_seq, flush_id, sign, weight, facet_key, unit_type,
                                    unit_id, valid_from, valid_until, next_from, birth_key, death_key,
                                    used_for_counting, primary_activity_category_path, secondary_activity_category_path,
                                    sector_path, legal_form_id, physical_region_path, physical_country_id, unit_size_id,
                                    status_id, name, address_key, moments, value_counts)
  select p_round_id, 'history', p_partition_seq, c.flush_id, c.sign, c.weight, md5(c.unit_type)::uuid, c.unit_type,
         c.unit_id, c.valid_from, c.valid_until, c.next_from, c.birth_key, c.death_key, c.used_for_counting, a1.path,
         a2.path, s.path, c.legal_form_id, r.path, c.physical_country_id, c.unit_size_id, c.status_id, c.name,
         c.address_key, c.moments, c.value_counts
    from (
      select u.flush_id, u.sign, u.unit_type, g.unit_id, u.valid_from, u.valid_until, u.next_from, u.birth_key,
             u.death_key, u.used_for_counting,
             -- A row with several values is in as many groups: it weighs in the first.
             count(*) filter (where coalesce(m.ordinality, 1) = 1)::integer as weight,
             min(case when g.unit_id is not null
                        then u.primary_activity_category_id end) as primary_activity_category_id,
             min(case when g.unit_id is not null
                        then u.secondary_activity_category_id end) as secondary_activity_category_id,
             min(case when g.unit_id is not null then u.sector_id end) as sector_id,
             min(case when g.unit_id is not null then u.legal_form_id end) as legal_form_id,
             min(case when g.unit_id is not null then u.physical_region_id end) as physical_region_id,
             min(case when g.unit_id is not null then u.physical_country_id end) as physical_country_id,
             min(case when g.unit_id is not null then u.unit_size_id end) as unit_size_id,
             min(case when g.unit_id is not null then u.status_id end) as status_id,
             min(case when g.unit_id is not null then u.name end) as name,
             min(case when g.unit_id is not null then u.address_key end) as address_key,
             case when m.stat_definition_id is null
                  then min(case when g.unit_id is not null then u.moments end)
                  else array[row(m.stat_definition_id, sum(m.n)::bigint, sum(m.total), sum(m.squares),
                                 min(m.min),
                                 case when min(m.min) = max(m.min) then count(*)
                                      when min(m.min) = 0 then count(*) filter (where m.min = 0)
                                      when min(m.min) = 1 then count(*) filter (where m.min = 1)
                                      when min(m.min) = min(k.value) then count(*) filter (where m.min = k.value)
                                      else 0 end,
                                 max(m.max),
                                 case when min(m.max) = max(m.max) then count(*)
                                      else 0 end)::register.moment] end as moments,
             (array_agg(u.value_counts) filter (where g.unit_id is not null))[1] as value_counts
        from register.unit_cells(p_source, p_from_flush, p_to_flush, '{[0,16384)}') as u
       cross join lateral (
         select case when p_source = 'changes' or not u.is_only or u.value_counts is not null
                       then u.unit_id end as unit_id
       ) as g
        left join lateral unnest(case when g.unit_id is null then u.moments end) with ordinality as m on true
        left join pg_temp.known_min as k on k.unit_type = u.unit_type and k.stat_definition_id = m.stat_definition_id
       group by u.flush_id, u.sign, u.unit_type, g.unit_id, u.valid_from, u.valid_until, u.next_from, u.birth_key,
                u.death_key, u.used_for_counting, m.stat_definition_id
    ) as c
    left join register.activity_category as a1 on a1.id = c.primary_activity_category_id
    left join register.activity_category as a2 on a2.id = c.secondary_activity_category_id
    left join register.sector as s on s.id = c.sector_id
    left join register.region as r on r.id = c.physical_region_id;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
