-- refuse_violation: a rule of the tables forbids an edit; said in words for people, without statements and rows.
--
--   raises  RG008
create or replace function register.refuse_violation(
  p_constraint  text,
  p_column      text,
  p_message     text
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  perform register.refuse_edit(coalesce(register.refusal_text(p_constraint, p_column), p_message),
                               'A column cannot have this value.');
end;
$$;
