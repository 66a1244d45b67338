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
  set jit = off
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
declare
  v_news   boolean;
  v_queues integer[];
  v_tiers  integer[];
  v_count  integer;
  v_left   integer := p_limit;
begin
  for v_look in 1 .. 2 loop
    -- One statement looks at everything: an idle queue costs next to nothing. Where a claim left a position hint behind there
    -- is work, and an unhinted look might be long; see pick_ready.
    select exists (select from worker.blocked as b where b.due_at <= worker.now())
           or exists (select from worker.arrival)
           or exists (select from worker.gate_arrival)
           or exists (select from worker.gate as g where g.next_at <= worker.now()),
           array_agg(q.queue_id order by t.tier, n.place) filter (where q.queue_id is null or h.has_work),
           array_agg(t.tier order by t.tier, n.place) filter (where q.queue_id is null or h.has_work)
      into v_news, v_queues, v_tiers
      from unnest(p_queues) with ordinality as n (queue, place)
      left join worker.queue_registry as q on q.queue = n.queue
     cross join unnest(array[0, 1]) as t (tier)
     cross join lateral (
       select current_setting(format('worker.hint_%sp%s', q.queue_id, t.tier), true) <> ''
              or exists (select from worker.ready as r where r.queue_id = q.queue_id and r.kind = 'p' and r.tier = t.tier) as has_work
     ) as h;
    exit when not v_news;
    perform worker.let_in();
  end loop;

  for v_source in 1 .. coalesce(cardinality(v_queues), 0) loop
    if v_queues[v_source] is null then
      raise exception using
        errcode = 'CM003',
        message = format('unknown queue %L', (select n.queue
                                                from unnest(p_queues) as n (queue)
                                               where not exists (select from worker.queue_registry as q where q.queue = n.queue)
                                               limit 1)),
        hint = 'Register it in worker.queue_registry; "catchment queue list" shows what there is.';
    end if;
    return query select c.* from worker.claim(v_queues[v_source], 'p', v_tiers[v_source], v_left, null, p_worker_id) as c;
    get diagnostics v_count = row_count;
    v_left := v_left - v_count;
    exit when v_left <= 0;
  end loop;
end;
$$;
