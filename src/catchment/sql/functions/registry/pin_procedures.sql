-- pin_procedures: a registered name means the one procedure that it means now, also when another of that name comes later. A name
-- that means none yet, or several, stays open until a task asks for it.
create or replace function worker.pin_procedures()
  returns trigger
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  new.handler_signature := worker.pinned_signature(new.handler_procedure,
                                                   case when tg_op = 'UPDATE' and new.handler_procedure = old.handler_procedure
                                                        then old.handler_signature end);
  new.join_signature := worker.pinned_signature(new.join_procedure,
                                                case when tg_op = 'UPDATE' and new.join_procedure = old.join_procedure
                                                     then old.join_signature end);
  return new;
end;
$$;
