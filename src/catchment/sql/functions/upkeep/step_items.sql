-- step_items: the items of a step of upkeep that are due, without those set aside; for a step that failed as a whole.
create or replace function worker.step_items(
  p_step  text,
  p_dead  bigint[]
)
  returns text[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_many  constant integer := 1000;
  v_now   timestamptz := worker.now();
  v_items text[];
begin
  v_items := case p_step
    when 'interrupt' then array(select r.id::text from worker.running as r
                                 where r.backend_key is not null or r.worker_id = any (p_dead) limit c_many)
    when 'forget'    then array(select d::text from unnest(p_dead) as d)
    when 'orphan'    then array(select r.id::text from worker.running as r
                                 where r.backend_key is null
                                   and not exists (select from worker.worker as w where w.worker_id = r.worker_id)
                                 limit c_many)
    when 'cancel'    then array(select c.task_id::text from worker.cancel_request as c order by c.task_id limit c_many)
    when 'deadline'  then array(select r.id::text from worker.running as r
                                 where r.deadline_at <= v_now and r.expired_at is null limit c_many)
    when 'due'       then array(select b.id::text from worker.blocked as b where b.due_at <= v_now order by b.due_at
                                 limit c_many)
    when 'lane'      then array(select distinct a.queue_id || '/' || a.lane from worker.arrival as a limit c_many)
    when 'gate'      then array(select a.gate from worker.gate_arrival as a
                                union
                                select g.gate from worker.gate as g where g.next_at <= v_now limit c_many)
    when 'schedule'  then array(select s.name from worker.due_schedules() as s)
    when 'adopt'     then array(select distinct s.name from worker.schedule_source as s)
    when 'age'       then array(select q.queue from worker.queue_registry as q)
    when 'scope'     then array(select s.id::text from worker.scope as s
                                 where s.state = 'waiting' and s.open_children = 0 and not s.is_joining limit c_many)
  end;
  return array(select i from unnest(v_items) as i where i <> all (worker.set_aside(p_step)));
end;
$$;
