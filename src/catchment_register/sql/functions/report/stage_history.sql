-- stage_history: some periods of the history, from the cells of the round. p_payload: as plan_periods makes it for a
-- child. Made from changes, a row holds differences. Groups are few and large: their values are summed variable by
-- variable.
--
--   raises  RG010 staged rows were lost in a crash
--   reads   pg_temp.count_sum, pg_temp.moment_sum
--   writes  pg_temp.moment_part
--   plan    no_jit, unmerged, memory_128
create or replace function register.stage_history(p_payload jsonb)
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round_id    bigint := (p_payload ->> 'round_id')::bigint;
  v_batch_seq   integer := (p_payload ->> 'batch_seq')::integer;
  v_periods     register.period[] := register.named_periods(
                                       array(select jsonb_array_elements_text(p_payload -> 'periods')));
  v_is_rebuild  boolean;
  v_count       integer;
begin
  perform register.require_mark(v_round_id);
  perform register.open_report_scratch();
  select s.is_rebuild into strict v_is_rebuild from register.report_scope(v_round_id, 'history') as s;

  delete from pg_temp.moment_part;
  insert into pg_temp.moment_part (facet_key, period_key, sign, moments, value_counts)
  select f.facet_key, f.period_key, f.sign, f.moments, f.value_counts
    from register.history_facts(v_round_id, 'history', false, v_periods) as f
   where f.moments is not null
      or f.value_counts is not null;
  perform register.sum_moments();

  insert into register.statistical_history_staging
         (round_id, batch_seq, resolution, year, month, facet_key, unit_type, unit_count, measures, moments,
          value_counts, removed, removed_counts)
  select v_round_id, v_batch_seq, c.resolution, c.year, c.month, c.facet_key, c.unit_type, c.unit_count, c.measures,
         m.added, n.added, m.removed, n.removed
    from register.history_sums(v_round_id, 'history', v_periods) as c
    left join pg_temp.moment_sum as m using (facet_key, period_key)
    left join pg_temp.count_sum as n using (facet_key, period_key)
   -- A difference of nothing need not be published.
   where v_is_rebuild
      or c.unit_count <> 0
      or not register.is_zero(c.measures)
      or m.added is distinct from m.removed
      or n.added is distinct from n.removed;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
