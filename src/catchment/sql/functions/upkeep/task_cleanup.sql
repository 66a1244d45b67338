-- task_cleanup: handler of the command of that name. Deletes settled trees by the age of their root: completed ones
-- after completed_days (7), failed and cancelled ones after failed_days (30), and rows of the audit table after
-- audit_days (90), at most batch (10000) roots and rows a run; it asks for another run when there may be more.
create or replace procedure worker.task_cleanup(
  p_payload     jsonb,
  inout p_info  jsonb
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_batch integer := coalesce((p_payload ->> 'batch')::integer, 10000);
  v_audited_before timestamptz := worker.now()
                                  - make_interval(days => coalesce((p_payload ->> 'audit_days')::integer, 90));
  v_count integer;
  v_audit integer;
begin
  v_count := worker.delete_settled(
    worker.now() - make_interval(days => coalesce((p_payload ->> 'completed_days')::integer, 7)),
    worker.now() - make_interval(days => coalesce((p_payload ->> 'failed_days')::integer, 30)),
    v_batch);
  delete from worker.audit as a
   where a.id in (select o.id
                    from worker.audit as o
                   where o.at < v_audited_before
                   order by o.at
                   limit v_batch);
  get diagnostics v_audit = row_count;
  if v_count >= v_batch or v_audit >= v_batch then
    perform worker.enqueue('task_cleanup', p_payload);
  end if;
  p_info := jsonb_strip_nulls(jsonb_build_object('deleted_trees', v_count, 'deleted_audit', nullif(v_audit, 0)));
end;
$$;
