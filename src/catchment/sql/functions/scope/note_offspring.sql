-- note_offspring: remember with the transaction what the running handler of a task has made: child_mode and on_failure of its
-- scope, has_follow_up. settle writes it; until then the running row stays free for a cancel or a deadline.
create or replace function worker.note_offspring(
  p_task_id  bigint,
  p_note     jsonb
)
  returns jsonb
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_note jsonb := worker.offspring_noted(p_task_id) || p_note;
begin
  perform set_config('worker.offspring', jsonb_build_object(p_task_id, v_note)::text, true);
  return v_note;
end;
$$;
