-- settle_merged: tasks that were folded into these settle with them, in the same state. Returns all of them.
create or replace function worker.settle_merged(p_settled worker.settled[])
  returns worker.settled[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_twins worker.settled[];
begin
  if not exists (select from unnest(p_settled) as i where i.has_merged) then
    return p_settled;
  end if;
  with gone as (
    delete from worker.blocked as b
     using unnest(p_settled) as i
     where i.has_merged
       and b.wait_id = i.id
       and b.reason = 'merged'
    returning b.id, i.id as survivor_id, i.state, i.command, i.queue_id, b.place
  ),
  written as (
    insert into worker.outcome (id, state, attempt, completed_at, error, merged_into, parent_id)
    select g.id, g.state, 0, worker.now(),
           case when g.state <> 'completed' then
             jsonb_build_object('kind', 'merged', 'message',
                                format('merged into task %s, which is %s', g.survivor_id, g.state))
           end,
           g.survivor_id, case when g.state <> 'completed' then t.parent_id end
      from gone as g
      join worker.task as t on t.id = g.id
  )
  select array_agg(worker.settled_task(
           p_id => g.id, p_state => g.state, p_command => g.command, p_parent_id => t.parent_id, p_depth => t.depth,
           p_queue_id => g.queue_id, p_lane => null, p_place => g.place, p_was_active => false))
    into v_twins
    from gone as g
    join worker.task as t on t.id = g.id;
  return p_settled || v_twins;
end;
$$;
