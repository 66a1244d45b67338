-- claim_tasks: what a worker process of Python handlers takes, of all its queues in one call: children and joins first, then
-- the top level. The queues are asked in the order given.
--
--   locks   see let_in and claim
--   raises  CM003 unknown queue
create or replace function worker.claim_tasks(
  p_worker_id  bigint,
  p_queues     text[],
  p_limit      integer
)
  returns setof worker.claimed
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_queues integer[];
  v_source record;
  v_count  integer;
  v_left   integer := p_limit;
begin
  v_queues := array(select q.queue_id
                      from unnest(p_queues) with ordinality as n (name, place)
                      left join worker.queue_registry as q on q.queue = n.name
                     order by n.place);
  if array_position(v_queues, null) is not null then
    raise exception using
      errcode = 'CM003', message = format('unknown queue %L', p_queues[array_position(v_queues, null)]);
  end if;
  perform worker.let_in();
  for v_source in
    select q.id, t.tier from unnest(array[0, 1]) as t (tier) cross join unnest(v_queues) with ordinality as q (id, n)
     order by t.tier, q.n
  loop
    return query select c.* from worker.claim(v_source.id, 'p', v_source.tier, v_left, null, p_worker_id) as c;
    get diagnostics v_count = row_count;
    v_left := v_left - v_count;
    exit when v_left <= 0;
  end loop;
end;
$$;
