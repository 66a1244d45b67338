-- spawn_many: children of one command in one call.
create or replace function worker.spawn_many(
  p_command           text,
  p_payloads          jsonb[],
  p_parent_id         bigint default null,
  p_priority          integer default null,
  p_child_mode        text default null,
  p_on_child_failure  text default null
)
  returns bigint[]
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select coalesce(array_agg(worker.spawn_child(p_command, u.payload, p_parent_id, p_priority, p_child_mode,
                                               p_on_child_failure)
                            order by u.n), '{}')
    from unnest(p_payloads) with ordinality as u (payload, n);
$$;
