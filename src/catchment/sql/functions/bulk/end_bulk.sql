-- end_bulk: after the end of a bulk, however it has ended: write to the audit table how many tasks it changed. Once for
-- each end: a bulk that was retried ends again.
--
--   locks   the bulk
create or replace procedure worker.end_bulk(p_payload jsonb)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_bulk  worker.bulk;
  v_state text;
  v_ended timestamptz;
begin
  select b.* into v_bulk from worker.bulk as b where b.id = (p_payload ->> 'bulk')::bigint for update;
  select o.state, o.completed_at into v_state, v_ended from worker.outcome as o where o.id = v_bulk.task_id;
  if v_state is null or v_bulk.audited_at >= v_ended then
    return;
  end if;
  perform worker.write_audit(
    v_bulk.actor, v_bulk.role, format('tasks.%s.end', v_bulk.verb), format('task %s', v_bulk.task_id), v_bulk.filter,
    case v_state when 'completed' then 'done' else 'failed' end,
    format('%s: %s tasks %s, %s skipped%s', v_state, v_bulk.done,
           case v_bulk.verb when 'retry' then 'retried' else 'cancelled' end, v_bulk.skipped,
           coalesce(': ' || v_bulk.problem, '')));
  update worker.bulk as b set audited_at = worker.now() where b.id = v_bulk.id;
end;
$$;
