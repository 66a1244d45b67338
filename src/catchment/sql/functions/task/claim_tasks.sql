-- claim_tasks: what a worker process of Python handlers takes, of all its queues in one call, in the order given; of
-- each queue children and joins first, then the top level. Nothing under a task that was asked to stop starts, though
-- its cancel request has not been carried out yet.
--
--   locks   the meters of its queues by name, if several are limited or something is let in; see let_in, once; then
--           claim
--   raises  CM003 no such queue is registered; CM017 the worker is not registered
--   session reads worker.position_…, sets worker.position_…
--   plan    walk_sorted
create or replace function worker.claim_tasks(
  p_worker_id  bigint,
  p_queues     text[],
  p_limit      integer
)
  returns setof worker.claimed
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now         timestamptz := worker.now(); -- in a condition it is no value that an index can be searched for
  v_queue       text;
  v_queue_id    integer;
  v_is_free     boolean; -- has no limit, no pause and no lane for the whole queue
  v_is_usual    boolean; -- no command of it is deduplicated
  v_is_known    boolean;
  v_is_due      boolean;
  v_has_arrived boolean;
  v_has_gates   boolean;
  v_is_calm     boolean; -- no cancel request is open
  v_position    text;
  v_rows        tid[];
  v_count       integer;
  v_left        integer := p_limit;
  v_start       timestamptz;
  v_is_first    boolean := true;
  v_in_order    boolean := false; -- the meters are held
begin
  foreach v_queue in array p_queues loop
    -- One statement for all questions: an idle worker's answer waits for each statement of the usual case.
    select q.queue_id, q.mode = 'concurrent' and q.max_running is null and q.rate is null and q.paused_at is null,
           not exists (select from worker.command_registry as c where c.queue = q.queue and c.dedup is not null),
           exists (select from worker.worker as w where w.worker_id = p_worker_id),
           exists (select from worker.blocked as b where b.due_at <= v_now),
           exists (select from worker.arrival),
           exists (select from worker.gate_arrival) or exists (select from worker.gate as g where g.next_at <= v_now),
           not exists (select from worker.cancel_request)
      into v_queue_id, v_is_free, v_is_usual, v_is_known, v_is_due, v_has_arrived, v_has_gates, v_is_calm
      from worker.queue_registry as q
     where q.queue = v_queue;
    if not found then
      raise exception using
        errcode = 'CM003',
        message = format('unknown queue %L', v_queue),
        hint = 'Register it in worker.queue_registry; "catchment queue list" shows all queues.';
    end if;
    if not v_is_known then
      raise exception using
        errcode = 'CM017',
        message = format('worker %s is not registered', p_worker_id),
        hint = 'It was declared dead, or never registered. Register again.';
    end if;
    if v_is_first and (v_is_due or v_has_arrived or v_has_gates) then
      perform worker.let_in(p_queues, v_is_due, v_has_arrived, v_has_gates);
    end if;
    v_is_first := false;

    v_position := format('worker.position_%sp', v_queue_id);
    if not v_is_free then
      if not v_in_order and cardinality(p_queues) > 1 then
        perform worker.hold_meters(p_queues);
        v_in_order := true;
      end if;
      return query select c.* from worker.claim(v_queue_id, 'p', 0, v_left, null, p_worker_id) as c;
      get diagnostics v_count = row_count;
      if v_count < v_left then
        v_left := v_left - v_count;
        return query select c.* from worker.claim(v_queue_id, 'p', 1, v_left, null, p_worker_id) as c;
        get diagnostics v_count = row_count;
      end if;
    elsif v_is_usual and v_is_calm and current_setting(v_position, true) = '' then
      v_start := clock_timestamp();
      return query select c.* from worker.start_ready(null, false, p_worker_id, null, v_queue_id, v_left) as c;
      get diagnostics v_count = row_count;
      if clock_timestamp() - v_start > interval '2 milliseconds' + interval '100 microseconds' * v_count then
        perform set_config(v_position, 'slow', false); -- next time pick_ready finds out why
      end if;
    else
      v_rows := worker.pick_ready(v_queue_id, 'p', null, v_left, null);
      v_count := cardinality(v_rows);
      if v_count > 0 then
        return query select c.* from worker.start_and_fold(v_rows, v_queue, p_worker_id, null) as c;
      end if;
    end if;
    v_left := v_left - v_count;
    exit when v_left <= 0;
  end loop;
end;
$$;
