-- begin_reports: begin the reports of a round. It fixes the last flush that they include, which may be older than the
-- round's own work or that of a broken round; and it stores which reports are rebuilt, so that they still are if this
-- round breaks too.
--
--   locks   the rows of report_state, by name; see empty_report_work
create or replace function register.begin_reports(p_round_id bigint)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round  register.round;
  v_flush  bigint;
begin
  -- Flushes have taken their numbers by now: none runs beside the reports.
  select case when s.is_called then s.last_value else 0 end into v_flush from register.flush_id as s;
  update register.round as r set flush_id = v_flush where r.id = p_round_id returning r.* into strict v_round;
  perform register.empty_report_work();
  delete from register.staging_mark;
  insert into register.staging_mark (round_id) values (p_round_id);

  perform from register.report_state as s order by s.report for update;
  update register.report_state as s
     set applied_flush_id = null
   where s.applied_flush_id is not null
     and (v_round.rebuild
          or v_round.kind in ('all', 'reports')
          or s.through is distinct from register.report_through(v_round.today));
end;
$$;
