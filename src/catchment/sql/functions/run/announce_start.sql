-- announce_start: report the start of a handler by a notice, for sessions that ask for it. The client receives the
-- notice at once, not at the end of the call.
create or replace function worker.announce_start(p_run worker.sql_run)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  raise notice using
    message = 'task.started',
    detail = jsonb_build_object('task_id', p_run.id, 'command', p_run.command, 'attempt', p_run.attempt,
                                'is_join', p_run.is_join);
end;
$$;
