-- snooze_request: what settle has to know of a handler that ended by a snooze, out of the error that it raised.
create or replace function worker.snooze_request(p_error jsonb)
  returns jsonb
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object('until', p_error -> 'detail', 'message', p_error -> 'message');
$$;
