-- close_round: close a round, in the transaction that updates the last report. Only now its log rows are deleted, and
-- differences that every report has.
--
--   open -> done
--   raises  RG009 the round is not open, or not at this stage
create or replace function register.close_round(p_round_id bigint)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_kept    constant interval := '90 days';
  v_applied bigint;
begin
  update register.round as r
     set state = 'done', ended_at = clock_timestamp(), failures = 0
   where r.id = p_round_id
     and r.state = 'open';
  if not found then
    raise exception using
      errcode = 'RG009',
      message = format('round %s is not open, so it cannot end', p_round_id),
      hint = 'Its changes are collected again.';
  end if;
  delete from register.base_change_log as b where b.round_id = p_round_id;
  perform register.clear_staging(p_round_id);

  select min(s.applied_flush_id) into v_applied from register.report_state as s
  having bool_and(s.applied_flush_id is not null);
  delete from register.statistical_unit_change as c where c.flush_id <= v_applied;
  delete from register.statistical_unit_facet_dirty_partitions as d where d.flush_id <= v_applied;

  delete from register.round as r
   where r.id in (select o.id from register.round as o order by o.id limit 100)
     and r.ended_at < clock_timestamp() - c_kept;
  perform worker.notify('register_round', jsonb_build_object('round_id', p_round_id, 'state', 'done')::text);
end;
$$;
