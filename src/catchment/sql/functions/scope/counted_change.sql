-- counted_change: a change of scope counters, by the names of its columns. Without settings, so that it is inlined.
create or replace function worker.counted_change(
  p_scope_id   bigint,
  p_depth      integer,
  p_settled    integer default 0,
  p_failed     integer default 0,
  p_cancelled  integer default 0,
  p_spawned    integer default 0,
  p_has_info   boolean default false,
  p_advances   boolean default false
)
  returns worker.scope_change
  language sql immutable
return row(p_scope_id, p_depth, p_settled, p_failed, p_cancelled, p_spawned, p_has_info,
           p_advances)::worker.scope_change;
