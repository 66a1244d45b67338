-- announce_queue: notify running workers of new and changed queues.
create or replace function worker.announce_queue()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform worker.notify('worker_tasks', new.queue);
  return null;
end;
$$;
