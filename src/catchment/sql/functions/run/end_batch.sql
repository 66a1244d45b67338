-- end_batch: all attempts of a batch end, in one step: those that ran, and those that are released. If one of them is
-- no longer held, none of them ends.
--
--   processing -> completed | failed | cancelled | waiting | pending
--   returns the state of each, and how long one that failed waits for its next attempt, in the order given
--   locks   see settle
--   raises  CM001 the claim was lost
--   reads   worker.offspring
--   session reads worker.late, sets worker.task_id
create or replace function worker.end_batch(
  p_ids     bigint[],
  p_fences  bigint[],
  p_asked   text[],
  p_errors  jsonb[],
  p_infos   jsonb[],
  out p_states  text[],
  out p_again   interval[]
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_lost bigint;
begin
  perform set_config('worker.task_id', '', true);
  if p_asked <@ '{completed}'
     and nullif(current_setting('worker.late', true), '') is null
     and not exists (select from worker.offspring as o where o.xact = pg_current_xact_id_if_assigned())
     and not exists (select
                       from unnest(p_ids) as i (id)
                      cross join lateral (select r.is_plain, r.has_merged from worker.running as r where r.id = i.id
                                           limit 1) as r
                      where not r.is_plain or r.has_merged) then
    if cardinality(worker.complete_tasks(p_ids, p_fences, p_infos)) < cardinality(p_ids) then
      perform worker.raise_fenced(p_ids[1], p_fences[1]);
    end if;
    p_states := p_asked;
    return;
  end if;

  with ended as materialized (
    select s.* from worker.settle(p_ids, p_fences, p_asked, p_errors, p_infos) as s
  )
  select array_agg(e.state order by u.ordinality), array_agg(e.again_in order by u.ordinality),
         min(u.id) filter (where e.id is null)
    into p_states, p_again, v_lost
    from unnest(p_ids) with ordinality as u (id)
    left join ended as e on e.id = u.id;
  if v_lost is not null then
    perform worker.raise_fenced(v_lost, p_fences[array_position(p_ids, v_lost)]);
  end if;
end;
$$;
