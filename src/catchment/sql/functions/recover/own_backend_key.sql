-- own_backend_key: the key of this session, or null when it has never run tasks. It is the value that this session set or drew last
-- of the sequence worker.backend: PostgreSQL remembers that for each session, and no session may do so by itself.
create or replace function worker.own_backend_key()
  returns bigint
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  return currval('worker.backend');
exception
  when object_not_in_prerequisite_state then
    return null;
end;
$$;
