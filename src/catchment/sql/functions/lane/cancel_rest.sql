-- cancel_rest: settle as cancelled what stands behind these lane heads. For a serial queue that is its ready top level.
--
--   locks   ready and blocked rows; the caller holds the lane rows
create or replace function worker.cancel_rest(p_head_ids bigint[])
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  with head as (
    select t.id, t.queue_id, t.lane from worker.task as t where t.id = any (p_head_ids)
  ),
  lined as (
    delete from worker.blocked as b
     using head as h
     where b.reason = 'lane'
       and b.queue_id = h.queue_id
       and b.lane = h.lane
    returning b.id, b.attempt, h.id as head_id
  ),
  loose as (
    delete from worker.ready as r
     using head as h
     where h.lane is null
       and r.queue_id = h.queue_id
       and r.tier = 1
       and r.phase = 0
    returning r.id, r.attempt, h.id as head_id
  ),
  gone as (
    select * from lined union all select * from loose
  ),
  forgotten as (
    delete from worker.pending_key as k using gone as g, worker.task as t
     where t.id = g.id and k.dedup_key = t.dedup_key and k.id = g.id
  ),
  called as (
    insert into worker.after_call (task_id, command)
    select t.id, t.command
      from gone as g
      join worker.task as t on t.id = g.id
      join worker.command_registry as c on c.command = t.command
     where c.after_procedure is not null
  )
  insert into worker.outcome (id, state, attempt, completed_at, error)
  select g.id, 'cancelled', g.attempt, worker.now(),
         jsonb_build_object('kind', 'cancelled', 'message', format('task %s in front of it failed', g.head_id))
    from gone as g;
end;
$$;
