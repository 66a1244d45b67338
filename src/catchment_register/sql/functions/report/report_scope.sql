-- report_scope: the source of cells: all units, with is_rebuild, or changes of the flushes after from_flush up to
-- to_flush. Both reports by facet read the same cells, so the one that is further behind decides.
create or replace function register.report_scope(
  p_round_id    bigint,
  p_report      text,
  out is_rebuild  boolean,
  out from_flush  bigint,
  out to_flush    bigint
)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select bool_or(s.applied_flush_id is null), min(s.applied_flush_id), r.flush_id
    from register.round as r
   cross join register.report_state as s
   where r.id = p_round_id
     and (s.report = 'statistical_history') = (p_report = 'history')
   group by r.flush_id;
$$;
