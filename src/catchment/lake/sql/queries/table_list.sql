-- All dynamic tables, briefly.
select t.dynamic_table as name, t.scheduling_state as state, t.suspended_by, t.target_lag, t.lag,
       t.refresh_mode as mode, t.strategy, t.refresh_mode_reason as reason, t.rows, t.bytes, t.last_state,
       t.last_action, t.last_finished_at, t.last_error, t.open_state, t.is_filled, t.scheduler, t.comment
  from lake.tables as t
 order by t.schema_name, t.name
