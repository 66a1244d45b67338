-- insert_follow_up: see follow_up; for the attempt of that task, which must run in this session or end in this
-- transaction.
--
--   raises  CM042 the session is not running a handler
--   writes  worker.offspring
--   plan    walk
create or replace function worker.insert_follow_up(
  p_task_id       bigint,
  p_command       text,
  p_payload       jsonb,
  p_priority      integer,
  p_lane          text,
  p_scheduled_at  timestamptz,
  p_trace         text
)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_run  worker.running;
  v_root worker.task;
  v_same boolean;
  v_band integer;
  v_id   bigint;
begin
  select n.* into v_run from worker.running as n where n.id = p_task_id;
  if worker.holds_task(v_run) then
    select r.* into v_root
      from worker.task as t
      join worker.task as r on r.id = coalesce(t.root_id, t.id)
     where t.id = p_task_id;
  end if;
  if v_root.id is null then
    raise exception using
      errcode = 'CM042',
      message = format('%s follows nothing: no handler is running here', p_command),
      hint = 'Use worker.enqueue for an independent task.';
  end if;
  insert into worker.offspring (fence) values (v_run.fence) on conflict do nothing;

  select q.queue_id = v_root.queue_id into v_same
    from worker.command_registry as c
    join worker.queue_registry as q on q.queue = c.queue
   where c.command = p_command;
  v_id := worker.insert_task(p_command, p_payload, coalesce(p_priority, case when v_same then v_root.priority end),
                             coalesce(p_lane, case when v_same then v_root.lane end), p_scheduled_at,
                             p_follows_id => v_root.id, p_place => v_root.place,
                             p_trace => coalesce(p_trace, v_root.trace));
  if p_priority is null and v_same then
    select coalesce(r.band, s.band) into v_band
      from (select v_root.id as id) as i
      left join worker.running as r on r.id = i.id
      left join worker.scope as s on s.id = i.id;
    update worker.blocked as b set band = v_band where b.id = v_id and b.band > v_band;
  end if;
  return v_id;
end;
$$;
