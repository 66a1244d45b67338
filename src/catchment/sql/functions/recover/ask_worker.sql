-- ask_worker: ask a worker process to take no tasks any more (pause), or to end when those that it runs have (drain).
-- resume takes either back. It obeys at its next heartbeat, or at once if it listens; another worker then takes over
-- the top level of its serial queues. p_by is who asks for it, for people; the login if it is not given.
--
--   raises  CM017 the worker is not registered; CM018 an option has an invalid value
create or replace function worker.ask_worker(
  p_worker_id  bigint,
  p_request    text,
  p_by         text default null
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if p_request is null or p_request not in ('pause', 'drain', 'resume') then
    raise exception using
      errcode = 'CM018',
      message = format('request is %L, expected pause, drain or resume', p_request);
  end if;
  update worker.worker as w
     set asked    = nullif(p_request, 'resume'),
         asked_at = case when p_request <> 'resume' then worker.now() end,
         asked_by = case when p_request <> 'resume' then left(coalesce(p_by, session_user), 200) end
   where w.worker_id = p_worker_id;
  if not found then
    raise exception using
      errcode = 'CM017',
      message = format('there is no worker %s', p_worker_id),
      hint = '"catchment workers list" shows those that there are.';
  end if;
  perform worker.notify('worker_cancels', p_worker_id || ' asked');
end;
$$;
