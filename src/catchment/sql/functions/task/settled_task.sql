-- settled_task: a task that has just settled, by the names of its columns. Without settings, so that it is inlined.
create or replace function worker.settled_task(
  p_id             bigint,
  p_state          text,
  p_command        text,
  p_parent_id      bigint,
  p_depth          smallint,
  p_queue_id       integer,
  p_lane           text,
  p_place          bigint,
  p_was_active     boolean default true,
  p_has_info       boolean default false,
  p_has_after      boolean default false,
  p_has_merged     boolean default false,
  p_has_follow_up  boolean default false
)
  returns worker.settled
  language sql immutable
return row(p_id, p_state, p_command, p_parent_id, p_depth, p_queue_id, p_lane, p_place, p_was_active, p_has_info,
           p_has_after, p_has_merged, p_has_follow_up)::worker.settled;
