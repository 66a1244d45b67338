-- spawn: spawn_child for handlers that CALL.
create or replace procedure worker.spawn(
  p_command           text,
  p_payload           jsonb default '{}',
  p_parent_id         bigint default null,
  p_priority          integer default null,
  p_child_mode        text default null,
  p_on_child_failure  text default null,
  p_scheduled_at      timestamptz default null
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform worker.spawn_child(p_command, p_payload, p_parent_id, p_priority, p_child_mode, p_on_child_failure,
                             p_scheduled_at);
end;
$$;
