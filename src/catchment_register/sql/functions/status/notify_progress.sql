-- notify_progress: tell listeners of worker_status how far derivation is; from each session at most twice a second, however many
-- children it runs.
create or replace function register.notify_progress()
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  c_pause constant interval := '500 milliseconds';
  v_last  timestamptz := nullif(current_setting('register.progress_told_at', true), '')::timestamptz;
begin
  if clock_timestamp() < v_last + c_pause then
    return;
  end if;
  perform set_config('register.progress_told_at', clock_timestamp()::text, false);
  perform register.notify('worker_status', jsonb_build_object('type', 'pipeline_progress', 'phases', jsonb_agg(to_jsonb(p)))::text)
    from register.pipeline_progress() as p;
end;
$$;
