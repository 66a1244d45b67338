-- refuse_edit: an edit cannot do what was asked.
--
--   raises  RG008
create or replace function register.refuse_edit(
  p_message  text,
  p_hint     text default ''
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'RG008', message = p_message, hint = p_hint;
end;
$$;
