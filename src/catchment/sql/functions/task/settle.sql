-- settle: end attempts. Each gets a requested outcome: completed, failed, cancelled, interrupted, released or snoozed.
-- The rest follows from that: retries, open scopes, parents, lanes, follow-ups, hooks.
--
--   processing -> completed | failed | cancelled | waiting | pending | interrupted
--   locks   running rows by place; then scope rows deepest first, then id; then lane rows by key; then ready rows
--   returns the state of each task whose fence still held, and how long one that failed waits for its next attempt; the
--           others are omitted, and nothing of them has changed
--   raises  CM018 an option has an invalid value
--   session reads worker.late
--   plan    walk
create or replace function worker.settle(
  p_ids      bigint[],
  p_fences   bigint[],
  p_asked    text[],
  p_errors   jsonb[] default null,
  p_infos    jsonb[] default null,
  p_results  jsonb[] default null
)
  returns table (id bigint, state text, again_in interval)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended   worker.ended[];
  v_settled worker.settled[];
  v_fates   text[];
begin
  if not p_asked <@ '{completed,failed,cancelled,interrupted,released,snoozed}' then
    raise exception using
      errcode = 'CM018',
      message = format('attempts were asked to be %s, expected completed, failed, cancelled, interrupted, released or '
                       'snoozed', p_asked);
  end if;

  v_ended := worker.take_attempts(p_ids, p_fences, p_asked, p_errors, p_infos, p_results);
  v_fates := array(select distinct e.fate from unnest(v_ended) as e);

  if v_ended is null then
    return;
  end if;
  if v_fates <> '{completed}' then
    perform worker.record_attempts(v_ended);
  end if;
  if v_fates && '{retry,interrupted,released,snoozed}' then
    perform worker.requeue(v_ended);
  end if;
  if 'waiting' = any (v_fates) then
    perform worker.open_scopes(v_ended);
  end if;
  if v_fates && '{completed,failed,cancelled}' then
    v_settled := worker.write_outcomes(v_ended);
  end if;
  if v_settled is not null or nullif(current_setting('worker.late', true), '') is not null then
    perform worker.follow_through(v_settled);
  end if;

  return query
    select (e.run).id,
           case when e.fate in ('retry', 'released', 'snoozed') then 'pending' else e.fate end,
           case when e.fate = 'retry'
             then (select b.due_at - worker.now() from worker.blocked as b where b.id = (e.run).id) end
      from unnest(v_ended) as e;
end;
$$;
