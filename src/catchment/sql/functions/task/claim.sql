-- claim: take up to p_limit ready tasks of one queue, handler kind and tier, in order, under new fences.
-- It never looks at anything that cannot start, and its cost is that of the tasks taken. Call let_in first.
--
--   ready -> processing
--   locks   the meter row of a limited queue; ready rows that are free; the lane row of a serial queue if it is free
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
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set jit = off
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
declare
  v_queue   worker.queue_registry;
  v_limit   integer := p_limit;
  v_folds   boolean;
  v_serial  boolean;
  v_rows    tid[];
  v_claimed worker.claimed[];
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
  v_folds := exists (select from worker.command_registry as c where c.queue = v_queue.queue and c.dedup is not null);
  if not v_folds then
    return query select s.* from worker.start_ready(v_rows, v_serial, p_worker_id, p_backend_key) as s;
    return;
  end if;

  v_claimed := array(select s from worker.start_ready(v_rows, v_serial, p_worker_id, p_backend_key) as s);
  perform worker.fold_pending(c.id, array(select t.id from unnest(v_claimed) as t where t.has_twins))
     from unnest(v_claimed) as c
    where c.has_twins;
  return query
    select c.id, c.fence, c.command, t.payload, c.attempt, c.phase, c.parent_id, c.depth, c.lane, c.queue_id, c.timeout,
           c.failures, c.max_attempts, r.is_plain, c.has_twins, c.trace
      from unnest(v_claimed) with ordinality as c
     cross join lateral (select t.payload from worker.task as t where t.id = c.id limit 1) as t
     cross join lateral (select r.is_plain from worker.running as r where r.id = c.id limit 1) as r -- of twins in one claim, one runs
     order by c.ordinality;
end;
$$;
