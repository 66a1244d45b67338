-- advance_lanes: heads leave their lanes: they have settled, were put off or are skipped. The next admitted task
-- becomes the head and is ready. After a final failure the lane goes on, halts on the failed task, or cancels the rest:
-- the command decides, then the queue, then the kind of lane (a serial queue goes on, a named lane halts). A task
-- with a lane on a serial queue held both; the queue goes on in any case.
--
--   locks   lane rows by key, then blocked and ready rows
create or replace function worker.advance_lanes(p_heads worker.lane_head[])
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_held  worker.held_lane[];
  v_rows  tid[];
begin
  -- Lateral limits fix the order of the joins: see take_attempts.
  v_held := array(
    select (l.row_id, i.queue_id, l.lane, l.first_place, l.last_place, i.id,
            case
              when not i.has_failed then 'continue'
              when l.lane <> i.own_lane then 'continue' -- a serial queue, behind a task that has a lane besides
              else coalesce((select c.on_failure from worker.command_registry as c where c.command = i.command),
                            (select q.on_failure from worker.queue_registry as q where q.queue_id = i.queue_id),
                            case when l.lane = '' then 'continue' else 'halt' end)
            end)::worker.held_lane
      from (select i.id, i.has_failed, i.command, i.queue_id, i.lane as own_lane, k.lane
              from unnest(p_heads) as i
             cross join lateral (select '' as lane union select i.lane) as k
             order by i.queue_id, k.lane) as i
     cross join lateral (select l.ctid as row_id, l.lane, l.first_place, l.last_place
                           from worker.lane as l
                          where l.queue_id = i.queue_id and l.lane = i.lane and l.head_id = i.id
                          limit 1
                            for update) as l);
  if v_held = '{}' then
    return;
  end if;

  v_rows := array(select h.row_id from unnest(v_held) as h where h.policy = 'halt');
  if v_rows <> '{}' then
    update worker.lane as l set halted_at = worker.now() where l.ctid = any (v_rows);
  end if;
  v_rows := array(select h.row_id from unnest(v_held) as h where h.lane = '' and h.policy <> 'halt');
  if v_rows <> '{}' then
    update worker.lane as l set head_id = null where l.ctid = any (v_rows);
  end if;
  if exists (select from unnest(v_held) as h where h.policy = 'cancel_rest') then
    perform worker.cancel_rest(array(select h.head_id from unnest(v_held) as h where h.policy = 'cancel_rest'));
  end if;
  perform worker.wake(array(select distinct h.queue_id from unnest(v_held) as h), 2);
  perform worker.next_in_lane(array(select h from unnest(v_held) as h where h.lane <> '' and h.policy <> 'halt'));
end;
$$;
