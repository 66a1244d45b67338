-- raise_not_held: raise the error for an attempt that has lost its refresh.
--
--   raises  CM001 the claim was lost
create or replace function lake.raise_not_held(
  p_refresh_id  bigint,
  p_fence       bigint
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'CM001',
    message = format('refresh %s is not held under fence %s', p_refresh_id, p_fence),
    hint = 'Another attempt has taken it over, or it is over. Drop the result; the history of the table has the rest.';
end;
$$;
