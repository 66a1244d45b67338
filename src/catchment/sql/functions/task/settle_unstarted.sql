-- settle_unstarted: cancel tasks that have not started. Tasks that a claim or a merge holds right now are skipped.
--
--   pending | interrupted -> cancelled
--   locks   scope rows of their parents, deepest first, then id; their lane rows by key; then ready and blocked rows if
--           free
--   plan    walk
create or replace function worker.settle_unstarted(
  p_ids     bigint[],
  p_reason  text
)
  returns setof bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now     timestamptz := worker.now();
  v_settled worker.settled[];
begin
  perform s.id
     from worker.scope as s
    where s.id in (select t.parent_id from worker.task as t where t.id = any (p_ids))
    order by s.depth desc, s.id
      for no key update;
  perform l.lane
     from worker.lane as l
    where (l.queue_id, l.lane) in (select t.queue_id, k.lane
                                     from worker.task as t
                                    cross join unnest(array['', t.lane]) as k (lane)
                                    where t.id = any (p_ids) and t.parent_id is null)
    order by l.queue_id, l.lane
      for update;

  with unready as (
    delete from worker.ready as r
     where r.ctid = any (array(select x.ctid from worker.ready as x where x.id = any (p_ids) and x.phase = 0
                                  for update skip locked))
    returning r.id, r.attempt, r.place, r.phase, true as was_active
  ),
  unblocked as (
    delete from worker.blocked as b
     where b.ctid = any (array(select x.ctid from worker.blocked as x
                                where x.id = any (p_ids) and x.phase <> 1 and x.reason <> 'merged'
                                  for update skip locked))
    returning b.id, b.attempt, b.place, b.phase, b.reason in ('retry', 'snooze') as was_active
  ),
  gone as (
    select * from unready union all select * from unblocked
  ),
  forgotten as (
    delete from worker.pending_key as k
     using gone as g, worker.task as t
     where t.id = g.id and k.dedup_key = t.dedup_key and k.id = g.id
  ),
  written as (
    insert into worker.outcome (id, state, attempt, completed_at, error, parent_id)
    select g.id, 'cancelled', g.attempt, v_now, jsonb_build_object('kind', 'cancelled', 'message', p_reason),
           t.parent_id
      from gone as g
      join worker.task as t on t.id = g.id
  )
  select array_agg(worker.settled_task(
           p_id => t.id, p_state => 'cancelled', p_command => t.command, p_parent_id => t.parent_id, p_depth => t.depth,
           p_queue_id => t.queue_id, p_lane => case when t.parent_id is null then coalesce(t.lane, '') end,
           p_place => g.place, p_was_active => g.was_active, p_has_after => c.after_procedure is not null,
           -- a retried scope may have follow-ups
           p_has_merged => t.dedup_key is not null, p_has_follow_up => g.phase = 2 and t.parent_id is null))
    into v_settled
    from gone as g
    join worker.task as t on t.id = g.id
    left join worker.command_registry as c on c.command = t.command;

  if v_settled is not null then
    perform worker.follow_through(v_settled);
    return query select s.id from unnest(v_settled) as s;
  end if;
end;
$$;
