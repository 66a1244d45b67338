-- set_child_mode: the first spawn of a running handler fixes the child mode and on_child_failure of its scope. They
-- are noted in offspring, not in the running row, so that a handler that has spawned can still be cancelled or timed
-- out.
--
--   returns the mode
--   raises  CM005 the parent accepts no more children; CM011 the task is being cancelled; CM018 an option has an
--           invalid value; CM022 the scope has another policy
--   reads   worker.offspring
create or replace function worker.set_child_mode(
  p_run               worker.running,
  p_child_mode        text,
  p_on_child_failure  text,
  p_is_held           boolean default false
)
  returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_made worker.offspring;
begin
  if p_run.phase <> 0 then
    raise exception using
      errcode = 'CM005',
      message = format('task %s takes no children: its join is running', p_run.id),
      hint = 'A join settles its task. Spawn from the handler, or start a follow-up.';
  elsif not (p_is_held or worker.holds_task(p_run)) then
    raise exception using
      errcode = 'CM005',
      message = format('task %s is processing: only its own handler may spawn its children', p_run.id);
  elsif p_run.cancel_reason is not null then
    raise exception using
      errcode = 'CM011', message = format('task %s is being cancelled: %s', p_run.id, p_run.cancel_reason);
  elsif p_child_mode not in ('concurrent', 'serial') then
    raise exception using
      errcode = 'CM018', message = format('child mode %L is unknown, expected concurrent or serial', p_child_mode);
  elsif p_on_child_failure not in ('wait', 'cancel_siblings') then
    raise exception using
      errcode = 'CM018', message = format('on_child_failure %L is unknown, expected wait or cancel_siblings',
                                          p_on_child_failure);
  end if;

  select o.* into v_made
    from worker.offspring as o
   where o.fence = p_run.fence and o.xact = pg_current_xact_id_if_assigned();
  if v_made.child_mode is null then
    v_made.child_mode := coalesce(p_child_mode, 'concurrent');
    v_made.on_child_failure := coalesce(p_on_child_failure, 'wait');
    perform worker.note_offspring(p_run.fence, v_made.child_mode, v_made.on_child_failure);
  elsif p_child_mode <> v_made.child_mode or p_on_child_failure <> v_made.on_child_failure then
    raise exception using
      errcode = 'CM022',
      message = format('the scope of task %s is %s / %s, not %s / %s', p_run.id, v_made.child_mode,
                       v_made.on_child_failure, coalesce(p_child_mode, v_made.child_mode),
                       coalesce(p_on_child_failure, v_made.on_child_failure)),
      hint = 'The first spawn of a handler fixes child mode and on_child_failure.';
  end if;
  return v_made.child_mode;
end;
$$;
