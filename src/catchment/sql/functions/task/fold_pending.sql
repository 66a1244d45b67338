-- fold_pending: a claimed task takes in the committed pending tasks of its key, wherever they wait, and those of the
-- same claim; they settle with it. One whose payload does not fit the merge rules, or would make this one larger than a
-- payload may be, is left to run by itself. Twins that stand in a line, a lane or a serial scope, stand behind this
-- task, which holds that line: nobody else moves them.
--
--   locks   ready and blocked rows of the twins that are free, and nothing else
create or replace function worker.fold_pending(
  p_id       bigint,
  p_claimed  bigint[]
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_task  worker.task;
  v_twin  record;
  v_rules jsonb;
  v_twins bigint[] := '{}';
begin
  if not exists (select from worker.running as r where r.id = p_id) then
    return; -- it was folded itself
  end if;
  select t.* into v_task from worker.task as t where t.id = p_id;
  delete from worker.pending_key as k where k.dedup_key = v_task.dedup_key and k.id = p_id;
  select c.merge into v_rules from worker.command_registry as c where c.command = v_task.command;

  for v_twin in
    with loose as (
      select r.id
        from worker.ready as r
        join worker.pending_key as k on k.id = r.id
       where k.dedup_key = v_task.dedup_key
         and r.attempt = 0
         for update of r skip locked
    ),
    lined as (
      select b.id
        from worker.blocked as b
        join worker.pending_key as k on k.id = b.id
       where k.dedup_key = v_task.dedup_key
         and b.attempt = 0
         and b.reason in ('scheduled', 'lane', 'serial')
         for update of b skip locked
    ),
    taken as (
      select k.id from worker.pending_key as k where k.dedup_key = v_task.dedup_key and k.id = any (p_claimed)
    )
    select t.id, t.payload
      from (select l.id from loose as l union all select l.id from lined as l union all select k.id
              from taken as k) as f
      join worker.task as t on t.id = f.id
     order by t.id
  loop
    begin
      v_task.payload := worker.check_payload(v_task.command,
                                             worker.merge_payload(v_rules, v_task.payload, v_twin.payload));
      v_twins := v_twins || v_twin.id;
    exception
      when sqlstate 'CM004' or sqlstate 'CM020' then
        null;
    end;
  end loop;
  if v_twins = '{}' then
    return;
  end if;

  update worker.blocked as b
     set reason  = 'merged',
         wait_id = p_id,
         due_at  = null,
         lane    = null
   where b.id = any (v_twins);
  with loose as (
    delete from worker.ready as r where r.id = any (v_twins)
    returning r.id, r.queue_id, r.kind, r.tier, r.band, r.rank, r.place
  ),
  taken as (
    delete from worker.running as r
     using worker.task as t
     where r.id = any (v_twins)
       and t.id = r.id
    returning r.id, r.queue_id, t.kind, r.tier, r.band, 1::smallint, t.place
  )
  insert into worker.blocked (id, reason, wait_id, queue_id, kind, tier, band, rank, place)
  select g.id, 'merged', p_id, g.queue_id, g.kind, g.tier, g.band, g.rank, g.place
    from (select * from loose union all select * from taken) as g;
  delete from worker.pending_key as k where k.dedup_key = v_task.dedup_key and k.id = any (v_twins);
  update worker.task as t set payload = v_task.payload where t.id = p_id;
  update worker.running as r set has_merged = true where r.id = p_id;
end;
$$;
