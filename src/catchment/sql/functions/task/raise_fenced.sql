-- raise_fenced: raise the error for a worker that lost its claim.
--
--   raises  CM001 the claim was lost
create or replace function worker.raise_fenced(
  p_task_id  bigint,
  p_fence    bigint
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'CM001',
    message = format('task %s is not held under fence %s', p_task_id, p_fence),
    hint = 'The claim was lost: another worker has taken the task over, or it has settled. Drop the result.';
end;
$$;
