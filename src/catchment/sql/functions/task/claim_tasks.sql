-- claim_tasks: what a worker process of Python handlers takes: children and joins first, then the top level.
--
--   locks   see claim
--   raises  CM003 unknown queue
create or replace function worker.claim_tasks(
  p_worker_id  bigint,
  p_queue      text,
  p_limit      integer
)
  returns setof worker.claimed
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue_id integer := (select q.queue_id from worker.queue_registry as q where q.queue = p_queue);
  v_count    integer;
begin
  if v_queue_id is null then
    raise exception using errcode = 'CM003', message = format('unknown queue %L', p_queue);
  end if;
  return query select * from worker.claim(v_queue_id, 'p', 0, p_limit, null, p_worker_id);
  get diagnostics v_count = row_count;
  if v_count < p_limit then
    return query select * from worker.claim(v_queue_id, 'p', 1, p_limit - v_count, null, p_worker_id);
  end if;
end;
$$;
