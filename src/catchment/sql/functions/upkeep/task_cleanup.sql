-- task_cleanup: handler of the command of that name. Deletes settled trees by the age of their root: completed ones
-- after completed_days (7), failed and cancelled ones after failed_days (30), and rows of the audit table after
-- audit_days (90), at most batch (10000) roots and rows a run; it asks for another run when there may be more.
-- Any role that may enqueue can make such a task: fewer days than those of the schedule task_cleanup, which only the
-- owner can change, count as those.
create or replace procedure worker.task_cleanup(
  p_payload     jsonb,
  inout p_info  jsonb
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_least jsonb := coalesce((select s.payload from worker.schedule as s where s.name = 'task_cleanup'), '{}');
  v_batch integer := coalesce((p_payload ->> 'batch')::integer, 10000);
  v_days  jsonb;
  v_count integer;
  v_audit integer;
begin
  select jsonb_object_agg(d.name, greatest((p_payload ->> d.name)::integer,
                                           coalesce((v_least ->> d.name)::integer, d.days)))
    into v_days
    from (values ('completed_days', 7), ('failed_days', 30), ('audit_days', 90)) as d (name, days);
  v_count := worker.delete_settled(
    worker.now() - make_interval(days => (v_days ->> 'completed_days')::integer),
    worker.now() - make_interval(days => (v_days ->> 'failed_days')::integer),
    v_batch);
  delete from worker.audit as a
   where a.id in (select o.id
                    from worker.audit as o
                   where o.at < worker.now() - make_interval(days => (v_days ->> 'audit_days')::integer)
                   order by o.at
                   limit v_batch);
  get diagnostics v_audit = row_count;
  if v_count >= v_batch or v_audit >= v_batch then
    perform worker.enqueue('task_cleanup', p_payload);
  end if;
  p_info := jsonb_strip_nulls(jsonb_build_object('deleted_trees', v_count, 'deleted_audit', nullif(v_audit, 0)));
end;
$$;
