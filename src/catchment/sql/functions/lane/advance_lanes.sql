-- advance_lanes: settled heads leave their lanes; the next admitted task becomes the head and is ready.
-- After a final failure the lane goes on, halts on the failed task, or cancels the rest: the command decides, then the queue,
-- then the kind of lane (a serial queue goes on, a workflow lane halts). A task with a lane on a serial queue held both; the
-- queue goes on in any case.
--
--   locks   lane rows by key, then blocked and ready rows
create or replace function worker.advance_lanes(p_items worker.settled[])
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_held  worker.lane[];
  v_heads bigint[];
  v_rest  bigint[];
begin
  perform l.lane
     from worker.lane as l
     join unnest(p_items) as i on i.queue_id = l.queue_id and l.lane in ('', i.lane)
    order by l.queue_id, l.lane
      for update of l;

  -- A serial queue's lane is free again; a workflow lane whose head failed may halt.
  with done as (
    select i.queue_id, i.lane, i.id,
           case
             when i.state <> 'failed' then 'continue'
             else coalesce(c.on_failure, q.on_failure, case when i.lane = '' then 'continue' else 'halt' end)
           end as policy
      from unnest(p_items) as i
      join worker.lane as l on l.queue_id = i.queue_id and l.lane = i.lane and l.head_id = i.id
      join worker.queue_registry as q on q.queue_id = i.queue_id
      left join worker.command_registry as c on c.command = i.command
  ),
  halted as (
    update worker.lane as l
       set halted_at = worker.now()
      from done as d
     where d.policy = 'halt'
       and l.queue_id = d.queue_id
       and l.lane = d.lane
  ),
  freed as (
    update worker.lane as l
       set head_id = null
      from unnest(p_items) as i
     where l.queue_id = i.queue_id
       and l.lane = ''
       and l.head_id = i.id
       and not exists (select from done as d where d.id = i.id and d.lane = '' and d.policy = 'halt')
  )
  select array_agg(l) filter (where d.policy <> 'halt' and d.lane <> ''),
         array_agg(d.id) filter (where d.policy = 'cancel_rest')
    into v_held, v_rest
    from done as d
    join worker.lane as l on l.queue_id = d.queue_id and l.lane = d.lane;

  if v_rest is not null then
    perform worker.cancel_rest(v_rest);
  end if;
  if v_held is null then
    return;
  end if;

  with next as materialized (
    select l.queue_id, l.lane, n.id, n.place
      from unnest(v_held) as l
      left join lateral (
        select b.id, b.place
          from worker.blocked as b
         where b.reason = 'lane'
           and b.queue_id = l.queue_id
           and b.lane = l.lane
           and b.place between l.first_place and l.last_place
         order by b.place, b.id
         limit 1
      ) as n on true
  ),
  moved as (
    update worker.lane as l
       set head_id = n.id, first_place = n.place
      from next as n
     where n.id is not null
       and l.queue_id = n.queue_id
       and l.lane = n.lane
  ),
  emptied as (
    delete from worker.lane as l
     using next as n
     where n.id is null
       and l.queue_id = n.queue_id
       and l.lane = n.lane
  )
  select array_agg(n.id) filter (where n.id is not null) into v_heads from next as n;
  perform worker.unblock(v_heads);
end;
$$;
