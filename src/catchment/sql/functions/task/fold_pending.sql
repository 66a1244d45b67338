-- fold_pending: a claimed task takes in the committed pending tasks of its key; they settle with it. One whose payload does
-- not fit the merge rules is left to run by itself.
--
--   locks   ready rows of the twins that are free, and nothing else
create or replace function worker.fold_pending(p_id bigint)
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_task  worker.task;
  v_twin  record;
  v_rules jsonb;
  v_twins bigint[] := '{}';
begin
  select t.* into v_task from worker.task as t where t.id = p_id;
  delete from worker.pending_key as k where k.dedup_key = v_task.dedup_key and k.id = p_id;
  select c.merge into v_rules from worker.command_registry as c where c.command = v_task.command;

  for v_twin in
    with locked as (
      select r.id
        from worker.ready as r
        join worker.pending_key as k on k.id = r.id
       where k.dedup_key = v_task.dedup_key
         and r.attempt = 0
         for update of r skip locked
    )
    select t.id, t.payload from locked as l join worker.task as t on t.id = l.id order by t.id
  loop
    begin
      v_task.payload := worker.merge_payload(v_rules, v_task.payload, v_twin.payload);
      v_twins := v_twins || v_twin.id;
    exception
      when sqlstate 'CM004' then
        null;
    end;
  end loop;
  if v_twins = '{}' then
    return;
  end if;

  with gone as (
    delete from worker.ready as r where r.id = any (v_twins) returning r.*
  ),
  forgotten as (
    delete from worker.pending_key as k where k.dedup_key = v_task.dedup_key and k.id = any (v_twins)
  )
  insert into worker.blocked (id, reason, wait_id, queue_id, kind, tier, band, rank, place)
  select g.id, 'merged', p_id, g.queue_id, g.kind, g.tier, g.band, g.rank, g.place from gone as g;
  update worker.task as t set payload = v_task.payload where t.id = p_id;
  update worker.running as r set has_merged = true where r.id = p_id;
end;
$$;
