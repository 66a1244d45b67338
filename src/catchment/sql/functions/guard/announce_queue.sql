-- announce_queue: running workers discover queues as they are made or changed.
create or replace function worker.announce_queue()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform worker.notify('worker_tasks', new.queue);
  return null;
end;
$$;
