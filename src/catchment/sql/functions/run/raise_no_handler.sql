-- raise_no_handler: the error of a task whose handler does not exist or is ambiguous.
--
--   raises  CM012 the handler procedure is missing or ambiguous
create or replace function worker.raise_no_handler(
  p_command  text,
  p_name     text
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_signatures text[] := worker.procedure_signatures(p_name, 2);
begin
  if cardinality(v_signatures) > 1 then
    raise exception using
      errcode = 'CM012',
      message = format('the handler %s of %s is ambiguous: %s', p_name, p_command,
                       array_to_string(v_signatures, ' or ')),
      hint = format('Write its arguments in worker.command_registry, such as %L, or drop one of them; then retry the '
                    'task.',
                    replace(v_signatures[1], 'pg_catalog.', ''));
  end if;
  raise exception using
    errcode = 'CM012',
    message = coalesce('the handler ' || p_name || ' of ' || p_command || ' does not exist',
                       'the registry has no handler of ' || p_command || ' any more'),
    hint = 'Create a procedure that takes (payload jsonb) or (payload jsonb, inout info jsonb), then retry the task.';
end;
$$;
