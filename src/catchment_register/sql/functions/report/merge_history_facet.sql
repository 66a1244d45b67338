-- merge_history_facet: for rows that a child has staged as differences, what the moments will be when they are published. Only the
-- end of the stage changes what is published, and children do this side by side. Published rows are found through the key: the work
-- grows with the change and not with the report.
create or replace function register.merge_history_facet(
  p_round_id   bigint,
  p_batch_seq  integer
)
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set jit = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  set enable_seqscan = off
as $$
declare
  v_is_one boolean := (select register.is_one_flush(s.from_flush, s.to_flush) from register.report_scope(p_round_id, 'facet') as s);
begin
  perform register.open_report_scratch();
  delete from moment_merge;
  insert into moment_merge (facet_key, period_key, old, added, removed)
  select s.facet_key, s.year * 100 + coalesce(s.month, 0), p.moments, s.moments, s.removed
    from register.statistical_history_facet_staging as s
    left join register.statistical_history_facet_row as p
      on p.facet_key = s.facet_key
     and p.year * 100 + coalesce(p.month, 0) = s.year * 100 + coalesce(s.month, 0)
   where s.round_id = p_round_id
     and s.batch_seq = p_batch_seq
     and s.moments is distinct from s.removed;
  perform register.merge_moments(p_is_part => v_is_one);
  perform register.look_up_history_facet_extremes(p_round_id, p_batch_seq);
  perform register.close_moments();
  update register.statistical_history_facet_staging as s
     set is_merged = true, merged = m.moments
    from moment_merged as m
   where s.round_id = p_round_id
     and s.batch_seq = p_batch_seq
     and m.facet_key = s.facet_key
     and m.period_key = s.year * 100 + coalesce(s.month, 0);
end;
$$;
