-- Refreshes, the newest first; of one table, or of all.
select r.id, r.dynamic_table as name, r.trigger, r.state, r.action, r.reason, r.data_snapshot, r.data_timestamp,
       r.created_at, r.started_at, r.finished_at, r.queued_ms, r.plan_ms, r.execute_ms, r.inserted, r.deleted, r.keys,
       r.rows_after as rows, r.changed_inputs, r.is_parallel, r.error_code, r.error_text as error, r.commit_snapshot,
       r.round_id, r.task_id, r.figures
  from lake.refreshes as r
 where (%(id)s::bigint is null or r.dt_id = %(id)s::bigint)
   and (%(with_idle)s or r.action is distinct from 'no_data')
   and (%(state)s::text is null or r.state = upper(%(state)s::text))
 order by r.id desc
 limit %(limit)s
