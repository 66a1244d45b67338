-- settle: attempts end. Each is asked to be completed, failed, cancelled, interrupted or released; the rest follows from it:
-- retries, open scopes, parents, lanes, follow-ups, hooks.
--
--   processing -> completed | failed | cancelled | waiting | pending | interrupted
--   locks   running rows by id; then scope rows deepest first, then id; then lane rows by key; then ready rows
--   returns the state of each task whose fence still held; the others are left out, and nothing of them has changed
--   raises  CM007 when something else is asked for
create or replace function worker.settle(
  p_ids      bigint[],
  p_fences   bigint[],
  p_asked    text[],
  p_errors   jsonb[] default null,
  p_infos    jsonb[] default null,
  p_results  jsonb[] default null
)
  returns table (id bigint, state text)
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set jit = off
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  set enable_sort = off
as $$
declare
  c_max_interruptions constant integer := 5;
  v_ended   worker.ended[];
  v_settled worker.settled[];
  v_fates   text[];
begin
  if not p_asked <@ '{completed,failed,cancelled,interrupted,released}' then
    raise exception using
      errcode = 'CM007',
      message = format('attempts were asked to be %s, expected completed, failed, cancelled, interrupted or released', p_asked);
  end if;

  if nullif(current_setting('worker.offspring', true), '') is not null then
    perform worker.write_offspring(p_ids, p_fences);
  end if;

  with input as (
    select u.* from unnest(p_ids, p_fences, p_asked, p_errors, p_infos, p_results) as u (id, fence, asked, error, info, result)
     order by u.id
  ),
  gone as (
    delete from worker.running as r
     using input as i
     where r.id = i.id
       and r.fence = i.fence
    returning r as run, i.error, i.info, i.result,
              case when r.cancel_reason is not null and i.asked <> 'completed' then 'cancelled' else i.asked end as asked
  ),
  fate as (
    select g.*,
           case
             when g.asked = 'completed' and (g.run).child_mode is not null then 'waiting'
             when g.asked = 'failed' and (g.run).failures + 1 < (g.run).max_attempts
                  and coalesce(g.error ->> 'retryable' <> 'false', true) then 'retry'
             when g.asked = 'interrupted' and (g.run).interruptions + 1 >= c_max_interruptions then 'failed'
             else g.asked
           end as fate
      from gone as g
  )
  select array_agg((f.run, f.fate,
                    case
                      when f.fate in ('completed', 'waiting', 'released') then null
                      when f.fate = 'failed' and f.asked = 'interrupted' then
                        jsonb_build_object('kind', 'interrupted', 'message', format('worker died %s times', c_max_interruptions))
                      when f.fate = 'cancelled' then
                        coalesce(f.error, '{}') || jsonb_build_object('kind', 'cancelled', 'message',
                                                                      coalesce((f.run).cancel_reason, 'cancelled'))
                      when (f.run).expired_at is not null then
                        coalesce(f.error, '{}') || jsonb_build_object('kind', 'timeout', 'message', format('timed out after %s',
                                                                      (f.run).deadline_at - (f.run).started_at))
                      else coalesce(f.error, jsonb_build_object('kind', f.asked, 'message', f.asked))
                    end,
                    f.info, f.result)::worker.ended),
         array_agg(distinct f.fate)
    into v_ended, v_fates
    from fate as f;

  if v_ended is null then
    return;
  end if;
  if v_fates <> '{completed}' then
    perform worker.record_attempts(v_ended);
  end if;
  if v_fates && '{retry,interrupted,released}' then
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
           case e.fate when 'retry' then 'pending' when 'released' then 'pending' else e.fate end
      from unnest(v_ended) as e;
end;
$$;
