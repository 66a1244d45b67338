-- The refreshes of a round, with the subtasks of those that are spread.
select r.id, r.dynamic_table as name, r.state, r.action, r.reason, r.inserted, r.deleted, r.keys, r.rows_after as rows,
       r.data_snapshot, r.data_timestamp, r.execute_ms / 1000 as seconds, r.error_code, r.error_text as error,
       (t.progress ->> 'done')::integer as done, (t.progress ->> 'total')::integer as total, r.figures
  from lake.refreshes as r
  left join worker.tasks as t on t.id = r.task_id and t.state = 'waiting' and r.is_parallel
 where r.round_id = %(round_id)s
 order by r.id
