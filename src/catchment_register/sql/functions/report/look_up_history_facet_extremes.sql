-- look_up_history_facet_extremes: for facets and periods whose last holder of an extreme has gone, the extreme among those that are
-- left. Reads the units of these facets through an index. Of the round's facets those that a child has staged; its cells are gone
-- when it commits, so that no other child sees them.
create or replace function register.look_up_history_facet_extremes(
  p_round_id   bigint,
  p_batch_seq  integer
)
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set enable_hashjoin = on -- callers that walk an index switch it off
  set enable_nestloop = off -- the planner may have seen the tables of a round when they were empty
  set jit = off
  set work_mem = '128MB'
as $$
declare
  v_periods register.period[];
begin
  select register.named_periods(array_agg(distinct (p.period_key / 100)::text
                                          || case when p.period_key % 100 > 0
                                                  then to_char(p.period_key % 100, '"-"FM00') else '' end))
    into v_periods
    from moment_piece as p
   where p.min is null
      or p.max is null;
  if v_periods is null then
    return;
  end if;
  delete from wanted_facet;
  insert into wanted_facet (unit_type, physical_region_path, primary_activity_category_path, legal_form_id, physical_country_id,
                            status_id, unit_size_id)
  select distinct f.unit_type, f.physical_region_path, f.primary_activity_category_path, f.legal_form_id, f.physical_country_id,
         f.status_id, f.unit_size_id
    from (select distinct p.facet_key from moment_piece as p where p.min is null or p.max is null) as u
    join register.statistical_history_facet_staging as f
      on f.facet_key = u.facet_key and f.round_id = p_round_id and f.batch_seq = p_batch_seq;
  perform register.want_units();
  perform register.collect_cells(p_round_id, 'facet', -1, '{[0,16384)}');
  -- Each cell is weighed against each period: most of those that stand for many units belong to facets that differ in what is left.
  delete from register.report_cell as c
   where c.round_id = p_round_id
     and c.partition_seq < 0
     and c.unit_id is null
     and c.facet_key not in (select p.facet_key from moment_piece as p where p.min is null or p.max is null);
  delete from moment_sum;
  insert into moment_sum (facet_key, period_key, added)
  select f.facet_key, f.period_key, register.total_moments(f.moments)
    from register.history_facts(p_round_id, 'facet', true, v_periods) as f
   where f.moments is not null
     and (f.facet_key, f.period_key) in (select p.facet_key, p.period_key
                                           from moment_piece as p
                                          where p.min is null
                                             or p.max is null)
   group by f.facet_key, f.period_key;
  perform register.fill_extremes();
  delete from register.report_cell as c where c.round_id = p_round_id and c.partition_seq < 0;
end;
$$;
