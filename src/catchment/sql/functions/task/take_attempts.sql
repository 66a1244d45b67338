-- take_attempts: attempts whose fence still holds leave running, each with its fate and its error as it will be kept.
--
--   locks   running rows by their place in the table, as finish_plain
--   reads   worker.offspring
--   writes  worker.offspring
create or replace function worker.take_attempts(
  p_ids      bigint[],
  p_fences   bigint[],
  p_asked    text[],
  p_errors   jsonb[],
  p_infos    jsonb[],
  p_results  jsonb[]
)
  returns worker.ended[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_max_interruptions constant integer := 5;
  v_rows  tid[];
  v_ended worker.ended[];
begin
  -- Subqueries and lateral limits fix the order of the joins: a planner that takes running for empty would turn them
  -- round and read its dead rows once for each input.
  v_rows := array(select (select r.ctid from worker.running as r where r.id = u.id and r.fence = u.fence for update)
                    from (select u.id, u.fence
                            from unnest(p_ids, p_fences) as u (id, fence)
                           order by (select x.ctid from worker.running as x where x.id = u.id
                                        and x.fence = u.fence)) as u);

  select array_agg((row(t.id, t.command, t.queue_id, t.kind, r.tier, r.band, t.place, t.parent_id, t.depth,
                        coalesce(t.lane, case when q.mode = 'serial' and r.tier = 1 then '' end), r.phase, r.attempt,
                        r.failures, r.interruptions, t.max_attempts, r.worker_pid, r.started_at, r.deadline_at,
                        n.child_mode, n.on_child_failure, c.after_procedure is not null, r.has_merged,
                        n.fence is not null, r.cancel_reason, r.expired_at)::worker.run,
                    a.asked, f.fate,
                    case
                      when f.fate in ('completed', 'waiting') then null
                      when f.fate in ('released', 'snoozed') then i.error
                      when f.fate = 'failed' and a.asked = 'interrupted' then
                        jsonb_build_object('kind', 'interrupted', 'message',
                                           case
                                             when coalesce(i.error ->> 'message', 'its worker died') = 'its worker died'
                                               then format('worker died %s times', c_max_interruptions)
                                             else format('interrupted %s times, most recently: %s', c_max_interruptions,
                                                         i.error ->> 'message')
                                           end)
                      when f.fate = 'cancelled' then
                        coalesce(i.error, '{}') || jsonb_build_object('kind', 'cancelled', 'message',
                                                                      coalesce(r.cancel_reason, 'cancelled'))
                      -- A Python worker enforces its timeouts itself, and pauses them while a handler waits for a
                      -- connection.
                      when r.expired_at is not null and (r.backend_key is not null
                                                         or coalesce(i.error ->> 'kind', '57014') = '57014') then
                        coalesce(i.error, '{}') || jsonb_build_object(
                          'kind', 'timeout', 'message', format('timed out after %s', r.deadline_at - r.started_at))
                      else coalesce(i.error, jsonb_build_object('kind', a.asked, 'message', a.asked))
                    end,
                    i.info, i.result)::worker.ended)
    into v_ended
    from unnest(p_ids, p_fences, p_asked, p_errors, p_infos, p_results) as i (id, fence, asked, error, info, result)
   cross join lateral (select r.* from worker.running as r where r.id = i.id and r.fence = i.fence limit 1) as r
   cross join lateral (select t.* from worker.task as t where t.id = i.id limit 1) as t
    left join lateral (select n.fence, n.child_mode, n.on_child_failure
                         from worker.offspring as n
                        where n.fence = i.fence and n.xact = pg_current_xact_id_if_assigned()
                        limit 1) as n on true
   cross join lateral (
     select case when r.cancel_reason is not null and i.asked <> 'completed' then 'cancelled' else i.asked end as asked
   ) as a
   cross join lateral (
     select case
              when a.asked = 'completed' and n.child_mode is not null then 'waiting'
              when a.asked = 'failed' and r.failures + 1 < t.max_attempts
                   and coalesce(i.error ->> 'retryable' <> 'false', true) then 'retry'
              when a.asked = 'interrupted' and r.interruptions + 1 >= c_max_interruptions then 'failed'
              else a.asked
            end as fate
   ) as f
    left join worker.queue_registry as q on q.queue_id = t.queue_id
    left join worker.command_registry as c on c.command = t.command;

  delete from worker.running as r where r.ctid = any (v_rows);
  if exists (select from unnest(v_ended) as e where (e.run).has_follow_up) then
    delete from worker.offspring as n where n.fence = any (p_fences) and n.xact = pg_current_xact_id();
  end if;
  return v_ended;
end;
$$;
