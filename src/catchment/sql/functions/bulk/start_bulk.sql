-- start_bulk: retry or cancel all tasks that match a filter, by a task that does it in batches: see run_bulk_batch. It
-- changes tasks that match at this moment: none that is made, or fails, later. p_seen_at: none that was made, or ended,
-- after they were counted. p_actor and p_role say who asked for it, in the audit table; by default the login. Keys of
-- the filter: see check_bulk.
--
--   returns the id of that task
--   raises  CM018 an option has an invalid value
create or replace function worker.start_bulk(
  p_verb     text,
  p_filter   jsonb default '{}',
  p_reason   text default 'cancelled on request',
  p_actor    text default null,
  p_role     text default null,
  p_seen_at  timestamptz default null
)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_filter  jsonb := jsonb_strip_nulls(p_filter);
  v_count   record;
  v_id      bigint;
  v_task_id bigint;
begin
  select c.* into v_count from worker.count_bulk(p_verb, v_filter, p_seen_at => p_seen_at) as c;
  v_id := nextval('worker.bulk_id_seq');
  v_task_id := worker.enqueue('bulk_' || p_verb, jsonb_build_object('bulk', v_id, 'filter', v_filter));
  insert into worker.bulk (id, task_id, verb, filter, reason, actor, role, login, asked_at, expected)
  overriding system value
  values (v_id, v_task_id, p_verb, v_filter, left(p_reason, 500), left(coalesce(p_actor, session_user), 200),
          left(coalesce(p_role, 'operator'), 200), session_user,
          least(p_seen_at, worker.now()),
          case when v_count.is_complete then v_count.tasks end);
  -- Any worker serves the queue, as soon as there is something in it.
  perform worker.notify('worker_tasks', 'bulk_changes');
  return v_task_id;
end;
$$;
