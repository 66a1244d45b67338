-- notify_progress: notify listeners of worker_status of the progress of derivation, at most twice a second however many
-- children run.
--
--   locks   the row of progress_notice, if it is free
create or replace function register.notify_progress()
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_pause constant interval := '500 milliseconds';
begin
  update register.progress_notice as n
     set notified_at = clock_timestamp()
   where n.ctid = any (array(select x.ctid from register.progress_notice as x
                              where x.notified_at < clock_timestamp() - c_pause
                                for update skip locked));
  if not found then
    return;
  end if;
  perform worker.notify('worker_status', jsonb_build_object('type', 'pipeline_progress',
                                                            'phases', jsonb_agg(to_jsonb(p)))::text)
    from register.pipeline_progress() as p;
end;
$$;
