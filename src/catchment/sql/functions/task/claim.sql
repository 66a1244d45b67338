-- claim: take up to p_limit ready tasks of one queue, handler kind and tier, in order, under new fences.
-- It never looks at anything that cannot start, and its cost is that of the tasks taken. Call let_in first.
--
--   ready -> processing
--   locks   the meter row of a limited queue; ready rows that are free; the lane row of a serial queue if it is free
--   plan    walk_sorted
create or replace function worker.claim(
  p_queue_id     integer,
  p_kind         "char",
  p_tier         integer,
  p_limit        integer,
  p_max_priority integer default null,
  p_worker_id    bigint default null,
  p_backend_key  bigint default null
)
  returns setof worker.claimed
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue   worker.queue_registry;
  v_limit   integer := p_limit;
  v_serial  boolean;
  v_rows    tid[];
begin
  select q.* into v_queue
    from worker.queue_registry as q
   where q.queue_id = p_queue_id
     and (q.paused_at is null or q.paused_until <= worker.now());
  if not found then
    return; -- paused
  end if;
  if v_queue.max_running is not null or v_queue.rate is not null then
    v_limit := worker.take_allowance(v_queue, p_limit);
    if v_limit = 0 then
      return;
    end if;
  end if;

  v_serial := v_queue.mode = 'serial' and p_tier = 1;
  if v_serial then
    v_rows := worker.pick_serial(p_queue_id, p_kind, p_max_priority);
  else
    v_rows := worker.pick_ready(p_queue_id, p_kind, p_tier::smallint, v_limit, p_max_priority);
  end if;
  if v_rows = '{}' then
    return;
  end if;
  if v_queue.rate is not null then
    perform worker.use_allowance(v_queue, cardinality(v_rows));
  end if;
  if v_serial then
    update worker.lane as l
       set head_id = r.id
      from worker.ready as r
     where r.ctid = v_rows[1]
       and l.queue_id = p_queue_id
       and l.lane = '';
  end if;
  return query select c.* from worker.start_and_fold(v_rows, v_queue.queue, p_worker_id, p_backend_key, v_serial) as c;
end;
$$;
