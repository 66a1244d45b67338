-- advance_lanes: remove heads from their lanes because they settled, were postponed or are skipped. The next admitted
-- task becomes the head and is ready. After a final failure the lane continues, halts on the failed task, or cancels
-- the rest: the command decides, then the queue, then the kind of lane (a serial queue continues, a named lane halts).
-- A task with a lane on a serial queue held both; the queue continues in any case.
--
--   locks   lane rows by key, then blocked and ready rows
create or replace function worker.advance_lanes(p_heads worker.lane_head[])
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_serial  integer[]; -- queues whose top level is a lane
  v_queues  integer[];
  v_halted  tid[];
  v_free    tid[];
  v_heads   bigint[]; -- whose lanes are cancelled behind them
  v_named   worker.held_lane[];
begin
  v_serial := array(
    select q.queue_id
      from (select distinct i.queue_id from unnest(p_heads) as i) as q
     where exists (select from worker.lane as l where l.queue_id = q.queue_id and l.lane = ''));
  -- One pass over the heads, since there may be hundreds. Lateral limits fix the order of the joins: see take_attempts.
  select array_agg(distinct h.queue_id),
         array_agg(h.row_id) filter (where h.policy = 'halt'),
         array_agg(h.row_id) filter (where h.lane = '' and h.policy <> 'halt'),
         array_agg(h.id) filter (where h.policy = 'cancel_rest'),
         array_agg((h.row_id, h.queue_id, h.lane, h.first_place, h.last_place, h.id, h.policy)::worker.held_lane)
           filter (where h.lane <> '' and h.policy <> 'halt')
    into v_queues, v_halted, v_free, v_heads, v_named
    from (
      select l.row_id, i.queue_id, l.lane, l.first_place, l.last_place, i.id,
             case
               when not i.has_failed then 'continue'
               when l.lane <> i.own_lane then 'continue' -- a serial queue, behind a task that has a lane besides
               else coalesce((select c.on_failure from worker.command_registry as c where c.command = i.command),
                             (select q.on_failure from worker.queue_registry as q where q.queue_id = i.queue_id),
                             case when l.lane = '' then 'continue' else 'halt' end)
             end as policy
        from (select i.id, i.has_failed, i.command, i.queue_id, i.lane as own_lane, i.lane
                from unnest(p_heads) as i
               where i.lane <> ''
               union all
              select i.id, i.has_failed, i.command, i.queue_id, i.lane as own_lane, ''
                from unnest(p_heads) as i
               where i.queue_id = any (v_serial)
               order by 4, 6) as i
       cross join lateral (select l.ctid as row_id, l.lane, l.first_place, l.last_place
                             from worker.lane as l
                            where l.queue_id = i.queue_id and l.lane = i.lane and l.head_id = i.id
                            limit 1
                              for update) as l) as h;
  if v_queues is null then
    return;
  end if;

  if v_halted is not null then
    update worker.lane as l set halted_at = worker.now() where l.ctid = any (v_halted);
  end if;
  if v_free is not null then
    update worker.lane as l set head_id = null where l.ctid = any (v_free);
  end if;
  if v_heads is not null then
    perform worker.cancel_rest(v_heads);
  end if;
  perform worker.wake(v_queues, 2);
  if v_named is not null then
    perform worker.next_in_lane(v_named);
  end if;
end;
$$;
