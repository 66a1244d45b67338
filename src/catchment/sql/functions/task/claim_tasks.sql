-- claim_tasks: what a worker process of Python handlers takes, of all its queues in one call, in the order given; of each
-- queue children and joins first, then the top level.
--
--   locks   see let_in and claim
--   raises  CM001 unknown worker, CM003 unknown queue
create or replace function worker.claim_tasks(
  p_worker_id  bigint,
  p_queues     text[],
  p_limit      integer
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
  v_name  text;
  v_queue worker.queue_registry;
  v_rows  tid[];
  v_count integer;
  v_left  integer := p_limit;
begin
  if not exists (select from worker.worker as w where w.worker_id = p_worker_id) then
    raise exception using
      errcode = 'CM001',
      message = format('worker %s is not registered', p_worker_id),
      hint = 'It was declared dead, or never registered. Register again.';
  end if;
  if exists (select from worker.blocked as b where b.due_at <= worker.now())
     or exists (select from worker.arrival)
     or exists (select from worker.gate_arrival)
     or exists (select from worker.gate as g where g.next_at <= worker.now()) then
    perform worker.let_in();
  end if;
  foreach v_name in array p_queues loop
    select q.* into v_queue from worker.queue_registry as q where q.queue = v_name;
    if not found then
      raise exception using
        errcode = 'CM003',
        message = format('unknown queue %L', v_name),
        hint = 'Register it in worker.queue_registry; "catchment queue list" shows what there is.';
    end if;

    if v_queue.mode = 'concurrent' and v_queue.max_running is null and v_queue.rate is null and v_queue.paused_at is null then
      -- The usual case, in as few statements as can be: an idle worker's answer waits for each of them.
      v_rows := worker.pick_ready(v_queue.queue_id, 'p', null, v_left, null);
      v_count := cardinality(v_rows);
      if v_count > 0 then
        return query select c.* from worker.start_and_fold(v_rows, v_queue.queue, p_worker_id, null) as c;
      end if;
    else
      return query select c.* from worker.claim(v_queue.queue_id, 'p', 0, v_left, null, p_worker_id) as c;
      get diagnostics v_count = row_count;
      if v_count < v_left then
        v_left := v_left - v_count;
        return query select c.* from worker.claim(v_queue.queue_id, 'p', 1, v_left, null, p_worker_id) as c;
        get diagnostics v_count = row_count;
      end if;
    end if;
    v_left := v_left - v_count;
    exit when v_left <= 0;
  end loop;
end;
$$;
