-- pin_procedures: resolve the registered names to signatures, so that a procedure of the same name that is created
-- later is not called instead. A name that matches no procedure yet, or several, stays unresolved until a task needs
-- it.
create or replace function worker.pin_procedures()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  new.handler_signature := worker.pinned_signature(new.handler_procedure,
                                                   case when tg_op = 'UPDATE'
                                                        and new.handler_procedure = old.handler_procedure
                                                        then old.handler_signature end);
  new.join_signature := worker.pinned_signature(new.join_procedure,
                                                case when tg_op = 'UPDATE' and new.join_procedure = old.join_procedure
                                                     then old.join_signature end);
  return new;
end;
$$;
