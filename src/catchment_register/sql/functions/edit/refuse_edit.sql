-- refuse_edit: raise the error of an edit that is invalid.
--
--   raises  RG008 the edit is invalid; another code that is given
create or replace function register.refuse_edit(
  p_message  text,
  p_hint     text default '',
  p_code     text default 'RG008'
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = p_code, message = p_message, hint = p_hint;
end;
$$;
