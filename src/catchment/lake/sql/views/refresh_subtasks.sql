-- refresh_subtasks: the subtasks of parallel refreshes, as long as their tasks are kept. retry_count: how often it was
-- tried again, which is one less than the attempts of a subtask that has failed for good; an attempt that only found
-- that the worker of the last one had died is not one of them. A subtask that was split is completed without files; its
-- halves are subtasks themselves.
create or replace view lake.refresh_subtasks as
select t.id, r.id as parent_refresh_id, d.schema_name || '.' || d.name as dynamic_table,
       r.plan ->> 'strategy' as subtask_type,
       case when t.payload -> 'spec' <> 'null' then jsonb_build_object('partition_spec', t.payload -> 'spec')
            else jsonb_build_object('key_column', r.plan ->> 'key_column', 'partition', t.payload -> 'partition',
                                    'total_partitions', t.payload -> 'total',
                                    'method', case r.plan ->> 'strategy' when 'modulo' then 'modulo'
                                                   else 'hash' end) end
         as subtask_data,
       case t.state when 'processing' then 'claimed' when 'completed' then 'completed' when 'failed' then 'failed'
                    when 'cancelled' then 'failed' else 'pending' end as status,
       (select string_agg(f.path, ', ' order by f.place)
          from jsonb_array_elements_text(t.result -> 'files') with ordinality as f (path, place)) as result_location,
       coalesce(w.name || '-' || w.worker_id, 'pid ' || t.worker_pid) as claimed_by, t.process_start_at as claimed_at,
       w.seen_at as heartbeat_at, t.completed_at, coalesce(t.error, a.message) as error_message,
       case t.state when 'failed'
                      then greatest(0, a.count - case t.error_detail ->> 'code' when 'INTERRUPTED' then 2 else 1 end)
                    else a.count end as retry_count,
       t.created_at
  from lake.refresh as r
  join lake.dt as d on d.id = r.dt_id
  join worker.tasks as t on t.parent_id = r.task_id and t.command = 'lake_bucket'
  left join worker.running as h on h.id = t.id
  left join worker.worker as w on w.worker_id = h.worker_id
 cross join lateral (
    select count(*)::integer as count, (array_agg(n.error ->> 'message' order by n.attempt desc))[1] as message
      from worker.attempt as n
     where n.task_id = t.id
       and n.state not in ('cancelled', 'released')
  ) as a;
comment on view lake.refresh_subtasks is
  'Subtasks of parallel refreshes: the part of the keys in subtask_data, status pending, claimed, completed or failed, '
  'and the Parquet files that came of it in result_location.';
