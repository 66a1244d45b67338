-- find_handler: resolve the name of a handler or join again, if it was not resolved yet or its procedure is gone, and
-- store the result.
--
--   locks   the row of the command, if it is free
--   returns the signature; null if no procedure, or more than one, matches
create or replace function worker.find_handler(
  p_command  text,
  p_is_join  boolean
)
  returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_command   worker.command_registry;
  v_before    text;
  v_signature text;
begin
  select c.* into v_command from worker.command_registry as c where c.command = p_command;
  v_before := case when p_is_join then v_command.join_signature else v_command.handler_signature end;
  v_signature := worker.pinned_signature(case when p_is_join then v_command.join_procedure
                                              else v_command.handler_procedure end,
                                         v_before);
  if v_signature <> coalesce(v_before, '') then
    update worker.command_registry as c
       set handler_procedure = c.handler_procedure, join_procedure = c.join_procedure -- pin_procedures does the rest
     where c.ctid = any (array(select x.ctid from worker.command_registry as x where x.command = p_command
                                  for update skip locked));
  end if;
  return v_signature;
end;
$$;
