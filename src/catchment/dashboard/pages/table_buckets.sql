-- table_buckets: the buckets of a parallel refresh, as long as their tasks are kept.
select b.id, coalesce(b.subtask_data ->> 'partition', b.id::text) as name, b.status, b.created_at as made_at,
       b.claimed_at as started_at, b.completed_at as ended_at, b.claimed_by, b.retry_count as retries,
       left(b.error_message, 500) as error
  from lake.refresh_subtasks as b
 where b.parent_refresh_id = (select r.id from lake.refresh as r
                               where r.id = %(refresh)s::bigint and r.dt_id = %(id)s::bigint)
 order by b.id
 limit %(most)s
