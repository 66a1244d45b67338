-- explain_workers: no live worker serves the queue, none of those has the command, or all that have it were asked to
-- take no tasks. See explain.
create or replace function worker.explain_workers(
  p_queue    text,
  p_command  text,
  p_at       worker.whereabouts,
  p_now      timestamptz
)
  returns setof worker.condition
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_workers jsonb;
  v_paused  worker.worker;
  v_handler text;
begin
  if worker.serving(p_queue, p_command, p_at.kind, p_now) then
    return;
  end if;
  select w.* into v_paused
    from worker.worker as w
   where w.lease_until > p_now
     and w.asked is not null
     and case p_at.kind
           when 's' then p_queue = any (w.queues)
           else p_queue = any (w.python_queues) and (w.python_commands is null or p_command = any (w.python_commands))
         end
   order by w.worker_id
   limit 1;
  if found then
    return next (
      'worker_paused', true,
      jsonb_build_object('queue', p_queue, 'command', p_command, 'worker', v_paused.worker_id, 'name', v_paused.name,
                         'requested', v_paused.asked, 'by', v_paused.asked_by, 'since', v_paused.asked_at),
      format('Worker %s (%s) has taken no tasks since %s: %s by %s. No other live worker has command %s.',
             v_paused.worker_id, v_paused.name, worker.said_when(v_paused.asked_at, p_now),
             case v_paused.asked when 'drain' then 'drained' else 'paused' end, v_paused.asked_by, p_command),
      format('catchment workers resume %s  # let it take tasks again', v_paused.worker_id))::worker.condition;
    return;
  end if;
  select c.handler_procedure into v_handler from worker.command_registry as c where c.command = p_command;
  select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('id', w.worker_id, 'name', w.name, 'version', w.version))
                   order by w.worker_id)
    into v_workers
    from (select x.worker_id, x.name, x.version
            from worker.worker as x
           where p_queue = any (case p_at.kind when 's' then x.queues else x.python_queues end)
             and x.lease_until > p_now
           order by x.worker_id
           limit 5) as w;
  return next (
    case when v_workers is null then 'no_worker' else 'no_command' end, true,
    jsonb_strip_nulls(jsonb_build_object('queue', p_queue, 'command', p_command, 'handler', v_handler, 'workers',
                                         v_workers)),
    case
      when v_workers is null then format('No live worker serves queue %s.', p_queue)
      else format('No live worker of queue %s has command %s; without it: %s.', p_queue, p_command,
                  (select string_agg(format('worker %s (%s%s)', w ->> 'id', w ->> 'name',
                                            coalesce(', version ' || (w ->> 'version'), '')), ', ')
                     from jsonb_array_elements(v_workers) as w))
    end,
    case p_at.kind
      when 'p' then format(E'catchment dev %1$s  # start a worker while you develop\n'
                           'catchment worker --app %1$s  # start one in production', worker.app_of(v_handler))
                    || case when v_workers is null then ''
                         else format(E'\ncatchment task cancel --command %s  # if it was removed or renamed',
                                     worker.shell_word(p_command))
                       end
      else format('catchment worker --queue %s  # start one', worker.shell_word(p_queue))
    end)::worker.condition;
end;
$$;
