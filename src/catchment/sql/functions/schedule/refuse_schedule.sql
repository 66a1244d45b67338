-- refuse_schedule: the error of a schedule that could never fire.
--
--   raises  CM016 the schedule could never fire
create or replace function worker.refuse_schedule(
  p_message  text,
  p_hint     text
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'CM016', message = p_message, hint = p_hint;
end;
$$;
