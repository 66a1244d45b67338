-- look_up_history_extremes: for periods of the history whose last holder of an extreme has gone, the extreme among those that are
-- left. Every unit of that type may hold it, so all published rows of the type are read once: seconds in a large register, and rare.
create or replace function register.look_up_history_extremes(p_round_id bigint)
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set enable_hashjoin = on -- callers that walk an index switch it off
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
  insert into wanted_facet (unit_type)
  select t.unit_type
    from unnest('{establishment,legal_unit,enterprise,power_group}'::text[]) as t (unit_type)
   where md5(t.unit_type)::uuid in (select p.facet_key from moment_piece as p where p.min is null or p.max is null);
  perform register.collect_cells(p_round_id, 'history', -1, '{[0,16384)}');
  delete from moment_part;
  insert into moment_part (facet_key, period_key, sign, moments)
  select f.facet_key, f.period_key, f.sign, f.moments
    from register.history_facts(p_round_id, 'history', true, v_periods) as f
   where f.moments is not null
     and (f.facet_key, f.period_key) in (select p.facet_key, p.period_key
                                           from moment_piece as p
                                          where p.min is null
                                             or p.max is null);
  perform register.sum_moments();
  perform register.fill_extremes();
  delete from register.report_cell as c where c.round_id = p_round_id and c.partition_seq < 0;
end;
$$;
