-- explain_workers: no live worker serves the queue, or none of those has the command. See explain.
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
  v_handler text;
begin
  if worker.serving(p_queue, p_command, p_at.kind, p_now) then
    return;
  end if;
  select c.handler_procedure into v_handler from worker.command_registry as c where c.command = p_command;
  select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('id', w.worker_id, 'name', w.name, 'version', w.version))
                   order by w.worker_id)
    into v_workers
    from (select x.worker_id, x.name, x.version
            from worker.worker as x
           where p_queue = any (x.queues || x.python_queues) and x.lease_until > p_now
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
      when 'p' then 'catchment worker --app MODULE:APP'
      else 'catchment worker --queue ' || worker.shell_word(p_queue)
    end)::worker.condition;
end;
$$;
