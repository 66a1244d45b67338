-- write_queues: the queues of register_commands. By default, a new one allows any depth. An existing one is changed
-- only with p_overwrite, and only in the given columns.
--
--   returns the number of rows made or changed
--   locks   rows of the queue registry by name, only those made or changed
create or replace function worker.write_queues(
  p_queues     jsonb,
  p_overwrite  boolean
)
  returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_made    integer;
  v_changed integer := 0;
begin
  insert into worker.queue_registry (queue, mode, concurrency, max_depth, on_failure, max_running, rate, rate_per)
  select n.queue, coalesce(n.mode, 'concurrent'), coalesce(n.concurrency, 1), n.max_depth, n.on_failure,
         n.max_running, n.rate, coalesce(n.rate_per, '1 second')
    from jsonb_populate_recordset(null::worker.queue_registry, p_queues) as n
   where not exists (select from worker.queue_registry as r where r.queue = n.queue)
   order by n.queue
      on conflict (queue) do nothing;
  get diagnostics v_made = row_count;
  if p_overwrite then
    update worker.queue_registry as q
       set mode        = case when s.said ? 'mode' then n.mode else q.mode end,
           concurrency = case when s.said ? 'concurrency' then n.concurrency else q.concurrency end,
           max_depth   = case when s.said ? 'max_depth' then n.max_depth else q.max_depth end,
           on_failure  = case when s.said ? 'on_failure' then n.on_failure else q.on_failure end,
           max_running = case when s.said ? 'max_running' then n.max_running else q.max_running end,
           rate        = case when s.said ? 'rate' then n.rate else q.rate end,
           rate_per    = case when s.said ? 'rate_per' then n.rate_per else q.rate_per end
      from jsonb_array_elements(p_queues) as s (said)
     cross join lateral jsonb_populate_record(null::worker.queue_registry, s.said) as n
     where q.queue = n.queue
       and exists (select from jsonb_each(s.said) as e
                    where e.key <> 'queue' and to_jsonb(q) -> e.key is distinct from to_jsonb(n) -> e.key);
    get diagnostics v_changed = row_count;
  end if;
  return v_made + v_changed;
end;
$$;
