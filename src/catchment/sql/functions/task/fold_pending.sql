-- fold_pending: a claimed task takes in the committed pending tasks of its key; they settle with it.
--
--   locks   ready rows of the twins that are free, and nothing else
create or replace function worker.fold_pending(p_id bigint)
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_task   worker.task;
  v_twin   record;
  v_rules  jsonb;
  v_folded boolean := false;
begin
  select t.* into v_task from worker.task as t where t.id = p_id;
  delete from worker.pending_key as k where k.dedup_key = v_task.dedup_key and k.id = p_id;
  select c.merge into v_rules from worker.command_registry as c where c.command = v_task.command;

  for v_twin in
    with locked as (
      select r.ctid
        from worker.ready as r
        join worker.pending_key as k on k.id = r.id
       where k.dedup_key = v_task.dedup_key
         and r.attempt = 0
         for update of r skip locked
    ),
    gone as (
      delete from worker.ready as r
       where r.ctid = any (array(select l.ctid from locked as l))
      returning r.*
    ),
    held as (
      insert into worker.blocked (id, reason, wait_id, queue_id, kind, tier, band, rank, place)
      select g.id, 'merged', p_id, g.queue_id, g.kind, g.tier, g.band, g.rank, g.place from gone as g
    )
    select t.id, t.payload from gone as g join worker.task as t on t.id = g.id order by t.id
  loop
    v_task.payload := worker.merge_payload(v_rules, v_task.payload, v_twin.payload);
    delete from worker.pending_key as k where k.dedup_key = v_task.dedup_key and k.id = v_twin.id;
    v_folded := true;
  end loop;

  if v_folded then
    update worker.task as t set payload = v_task.payload where t.id = p_id;
    update worker.running as r set has_merged = true where r.id = p_id;
  end if;
end;
$$;
