-- own_backend_key: the key of this session, or null if it has never run tasks. It is the last value of the sequence
-- worker.backend in this session: PostgreSQL keeps that per session, and only functions of the engine may set it.
--
--   session reads worker.backend
create or replace function worker.own_backend_key()
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return currval('worker.backend');
exception
  when object_not_in_prerequisite_state then
    return null;
end;
$$;
