-- register_worker: add a worker process. The caller then takes its lock on a connection it keeps (hold_worker_lock).
-- Behind a pooler it cannot: it passes p_has_lock false and lives by its lease alone. The key is random, so that no
-- other session can take the lock first. p_python_commands: the commands of its Python queues that it has, null for
-- all; the others are named by doctor while no worker has them. p_pid and p_version are for people.
create or replace function worker.register_worker(
  p_name             text,
  p_queues           text[] default '{}',
  p_max_capacity     integer default null,
  p_lease            interval default '15 seconds',
  p_has_lock         boolean default true,
  p_python_queues    text[] default '{}',
  p_python_commands  text[] default null,
  p_pid              integer default null,
  p_version          text default null
)
  returns table (worker_id bigint, lock_key bigint)
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  with made as (
    select nextval('worker.worker_worker_id_seq') as id
  )
  insert into worker.worker (worker_id, name, pid, version, lock_key, lease_until, started_at, seen_at, queues,
                             python_queues, python_commands, available_capacity, max_capacity)
  overriding system value
  select m.id, p_name, p_pid, p_version, case when p_has_lock then hashtextextended(gen_random_uuid()::text, 0) end,
         worker.now() + p_lease, worker.now(), worker.now(), p_queues, p_python_queues, p_python_commands,
         p_max_capacity, p_max_capacity
    from made as m
  returning worker.worker_id, worker.lock_key;
$$;
