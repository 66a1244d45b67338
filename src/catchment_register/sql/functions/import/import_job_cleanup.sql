-- import_job_cleanup: handler. Deletes expired import jobs. A job that cannot be deleted is reported and retried next
-- time; the others are deleted.
--
--   plan    no_jit
create or replace procedure register.import_job_cleanup(payload jsonb, inout info jsonb)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_id      integer;
  v_deleted integer := 0;
  v_failed  jsonb := '{}';
begin
  for v_id in select j.id from register.import_job as j where j.expires_at <= worker.now() order by j.id loop
    begin
      perform register.delete_import_job(v_id);
      v_deleted := v_deleted + 1;
    exception
      when others then
        v_failed := v_failed || jsonb_build_object(v_id, sqlerrm);
    end;
  end loop;
  info := jsonb_build_object('deleted', v_deleted)
          || case when v_failed <> '{}' then jsonb_build_object('failed', v_failed)
                                                           else '{}' end;
end;
$$;
