-- write_commands: the rows of register_commands. Without p_overwrite only those that are missing, or are taken over
-- from another project; a row that is as it should be is not even locked.
--
--   returns the number of rows made or changed
--   locks   rows of the command registry by name, only those made or changed
create or replace function worker.write_commands(
  p_commands   jsonb,
  p_overwrite  boolean
)
  returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  with wanted as (
    select n.command, n.queue, n.handler_procedure, n.join_procedure, coalesce(n.priority, 100) as priority,
           coalesce(n.max_attempts, 1) as max_attempts, coalesce(n.retry_delay, '1 second') as retry_delay,
           coalesce(n.retry_factor, 2) as retry_factor, coalesce(n.retry_max_delay, '1 minute') as retry_max_delay,
           coalesce(n.retry_jitter, 0.1) as retry_jitter, n.timeout, n.dedup, coalesce(n.merge, '{}') as merge,
           n.on_failure, n.limit_key, n.max_running, n.rate, coalesce(n.rate_per, '1 second') as rate_per,
           n.description, n.payload_schema, n.project
      from jsonb_populate_recordset(null::worker.command_registry, p_commands) as n
  )
  insert into worker.command_registry as c (command, queue, handler_kind, handler_procedure, join_procedure, priority,
                                            max_attempts, retry_delay, retry_factor, retry_max_delay, retry_jitter,
                                            timeout, dedup, merge, on_failure, limit_key, max_running, rate, rate_per,
                                            description, payload_schema, project)
  select w.command, w.queue, 'python', w.handler_procedure, w.join_procedure, w.priority, w.max_attempts, w.retry_delay,
         w.retry_factor, w.retry_max_delay, w.retry_jitter, w.timeout, w.dedup, w.merge, w.on_failure, w.limit_key,
         w.max_running, w.rate, w.rate_per, w.description, w.payload_schema, w.project
    from wanted as w
    left join worker.command_registry as o on o.command = w.command
   where o.command is null
      or worker.are_projects_apart(o.project, w.project)
      or p_overwrite
     and (o.queue, o.handler_procedure, o.join_procedure, o.priority, o.max_attempts, o.retry_delay, o.retry_factor,
          o.retry_max_delay, o.retry_jitter, o.timeout, o.dedup, o.merge, o.on_failure, o.limit_key, o.max_running,
          o.rate, o.rate_per, o.description, o.payload_schema, o.project)
         is distinct from
         (w.queue, w.handler_procedure, w.join_procedure, w.priority, w.max_attempts, w.retry_delay, w.retry_factor,
          w.retry_max_delay, w.retry_jitter, w.timeout, w.dedup, w.merge, w.on_failure, w.limit_key, w.max_running,
          w.rate, w.rate_per, w.description, w.payload_schema, coalesce(w.project, o.project))
   order by w.command
      on conflict (command) do update
     set queue = excluded.queue, handler_procedure = excluded.handler_procedure,
         join_procedure = excluded.join_procedure, priority = excluded.priority,
         max_attempts = excluded.max_attempts, retry_delay = excluded.retry_delay, retry_factor = excluded.retry_factor,
         retry_max_delay = excluded.retry_max_delay, retry_jitter = excluded.retry_jitter, timeout = excluded.timeout,
         dedup = excluded.dedup, merge = excluded.merge, on_failure = excluded.on_failure,
         limit_key = excluded.limit_key, max_running = excluded.max_running, rate = excluded.rate,
         rate_per = excluded.rate_per, description = excluded.description,
         payload_schema = excluded.payload_schema, project = coalesce(excluded.project, c.project)
   where (p_overwrite or worker.are_projects_apart(c.project, excluded.project))
     and c.handler_kind = 'python';
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
