-- close_scopes: every child has settled. Where a join is declared and all completed, it becomes ready; else the task
-- settles: cancelled if that was requested, failed if a child failed or was cancelled, completed otherwise.
--
--   locks   nothing new: the caller holds the scope rows
create or replace function worker.close_scopes(p_scopes worker.scope[])
  returns worker.settled[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now     timestamptz := worker.now();
  v_joins   bigint[];
  v_ids     bigint[];
  v_states  text[];
  v_errors  jsonb[];
begin
  if p_scopes = '{}' then
    return null;
  end if;

  v_joins := array(
    select s.id
      from unnest(p_scopes) as s
      join worker.command_registry as c on c.command = s.command
     where c.join_procedure is not null
       and s.cancel_reason is null
       and s.failed_children = 0
       and s.cancelled_children = 0);
  if v_joins <> '{}' then
    update worker.scope as s set is_joining = true where s.id = any (v_joins);
    insert into worker.ready (queue_id, kind, tier, band, rank, place, id, phase, attempt, since)
    select s.queue_id, s.kind, 0, s.band, 1, s.place, s.id, 1, s.attempt, v_now
      from unnest(p_scopes) as s
     where s.id = any (v_joins);
    perform worker.wake(array(select distinct s.queue_id from unnest(p_scopes) as s where s.id = any (v_joins)), 0);
  end if;

  select array_agg(s.id),
         array_agg(f.state),
         array_agg(case f.state
                     when 'cancelled' then jsonb_build_object('kind', 'cancelled', 'message', s.cancel_reason)
                     when 'failed' then worker.children_error(s)
                   end)
    into v_ids, v_states, v_errors
    from unnest(p_scopes) as s
   cross join lateral (
     select case
              when s.on_child_failure = 'cancel_siblings' and s.failed_children > 0 then 'failed'
              when s.cancel_reason is not null                                then 'cancelled'
              when s.failed_children > 0 or s.cancelled_children > 0          then 'failed'
              else 'completed'
            end as state
   ) as f
   where s.id <> all (v_joins);
  return worker.end_scopes(v_ids, v_states, v_errors);
end;
$$;
