-- merge_history: for rows that were staged as differences, what the moments will be when they are published. Children
-- of the history by facet do this side by side, each for the rows it has staged (p_batch_seq); of the history it is
-- done at the end, for all rows (null): an extreme is looked up once. Only the end of the stage changes what is
-- published. Published rows are found through the key: the work grows with the change and not with the report.
--
--   reads   pg_temp.moment_merged
--   writes  pg_temp.moment_merge
--   plan    no_jit, indexed, probed
create or replace function register.merge_history(
  p_round_id   bigint,
  p_report     text,
  p_batch_seq  integer
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_one boolean := (select register.is_one_flush(s.from_flush, s.to_flush)
                         from register.report_scope(p_round_id, p_report) as s);
begin
  perform register.open_report_scratch();
  delete from pg_temp.moment_merge;
  execute format($sql$
    insert into pg_temp.moment_merge (facet_key, period_key, old, added, removed)
    select s.facet_key, s.year * 100 + coalesce(s.month, 0), p.moments, s.moments, s.removed
      from register.statistical_history_staging as s
      left join register.%I_row as p
        on p.facet_key = s.facet_key
       and p.year * 100 + coalesce(p.month, 0) = s.year * 100 + coalesce(s.month, 0)
     where s.round_id = $1
       and ($2 is null or s.batch_seq = $2)
       and s.moments is distinct from s.removed
    $sql$, register.history_name(p_report)) using p_round_id, p_batch_seq;
  perform register.merge_moments(p_is_part => v_is_one);
  perform register.look_up_history_extremes(p_round_id, p_report, p_batch_seq);
  perform register.close_moments();
  update register.statistical_history_staging as s
     set is_merged = true, merged = m.moments
    from pg_temp.moment_merged as m
   where s.round_id = p_round_id
     and (p_batch_seq is null or s.batch_seq = p_batch_seq)
     and m.facet_key = s.facet_key
     and m.period_key = s.year * 100 + coalesce(s.month, 0);
end;
$$;
