-- promote_due: scheduled tasks, retries and snoozing tasks whose time has come move to ready; a scheduled one with a
-- lane enters it now, a scheduled child of a serial scope joins the line of its siblings.
--
--   locks   serial scope rows that are free, deepest first, then id; blocked rows that are free; then ready
--   plan    walk
create or replace function worker.promote_due(
  p_limit  integer default 1000,
  p_only   bigint default null
)
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now    timestamptz := worker.now();
  v_serial bigint[];
  v_count  integer;
  v_queues integer[];
  v_aside  bigint[] := case when p_only is null then worker.set_aside('due') else '{}' end;
begin
  if exists (select from worker.blocked as b where b.due_at <= v_now and b.reason = 'scheduled' and b.tier = 0) then
    v_serial := array(
      select s.id
        from worker.scope as s
       where s.id in (select t.parent_id
                        from worker.blocked as b
                        join worker.task as t on t.id = b.id
                       where b.due_at <= v_now and b.reason = 'scheduled' and b.tier = 0)
         and s.child_mode = 'serial'
       order by s.depth desc, s.id
         for no key update skip locked);
  end if;

  with due as (
    select b.ctid
      from worker.blocked as b
     where b.due_at <= v_now
       and (p_only is null or b.id = p_only)
       and b.id <> all (v_aside)
       and (b.reason in ('retry', 'snooze')
            or b.tier = 1
            or not exists (select from worker.task as t
                             join worker.scope as s on s.id = t.parent_id
                            where t.id = b.id and s.child_mode = 'serial' and s.id <> all (v_serial)))
     order by b.due_at
     limit p_limit
       for update of b skip locked
  ),
  gone as (
    delete from worker.blocked as b where b.ctid = any (array(select d.ctid from due as d)) returning b.*
  ),
  dest as materialized (
    select g.*,
           case
             when g.reason = 'scheduled' and g.lane is not null then nextval('worker.task_id_seq')
             else g.place
           end as new_place,
           coalesce(g.reason = 'scheduled' and t.parent_id = any (v_serial), false) as is_serial,
           t.parent_id,
           case when g.reason = 'scheduled' then t.gate end as gate,
           t.command
      from gone as g
      join worker.task as t on t.id = g.id
  ),
  loose as (
    insert into worker.ready (queue_id, kind, tier, band, rank, place, id, phase, attempt, failures, interruptions,
                              since)
    select d.queue_id, d.kind, d.tier, d.band, d.rank, d.place, d.id, d.phase, d.attempt, d.failures, d.interruptions,
           v_now
      from dest as d
     where d.reason in ('retry', 'snooze') or (d.lane is null and not d.is_serial and d.gate is null)
  ),
  lined as (
    insert into worker.blocked (id, reason, wait_id, queue_id, kind, tier, band, rank, place, lane)
    select d.id, case when d.is_serial then 'serial' when d.gate is not null then 'limit' else 'lane' end,
           case when d.is_serial then d.parent_id end, d.queue_id, d.kind, d.tier, d.band, d.rank, d.new_place,
           coalesce(d.gate, d.lane)
      from dest as d
     where d.reason = 'scheduled' and (d.lane is not null or d.is_serial or d.gate is not null)
  ),
  gated as (
    insert into worker.gate_arrival (gate, command) select d.gate, d.command from dest as d where d.gate is not null
  ),
  announced as (
    insert into worker.arrival (queue_id, lane, first_place, last_place)
    select d.queue_id, d.lane, min(d.new_place), max(d.new_place)
      from dest as d
     where d.reason = 'scheduled' and d.lane is not null
     group by d.queue_id, d.lane
  )
  select count(*), array_agg(distinct d.queue_id) into v_count, v_queues from dest as d;

  if v_serial <> '{}' then
    -- Where no sibling is at work, nobody else would start the line.
    perform worker.next_serial(array(select s from unnest(v_serial) as s where not worker.has_active_child(s)));
  end if;
  if v_count > 0 then
    perform worker.wake(v_queues, t.tier) from generate_series(0, 2) as t (tier);
  end if;
  return v_count;
end;
$$;
