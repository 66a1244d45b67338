-- refuse_early_settle: refuse to settle a waiting task with an unsettled child, whatever the caller and the counter
-- say.
--
--   raises  CM023 a child has not settled
create or replace function worker.refuse_early_settle()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if worker.has_pending_children(new.id) then
    raise exception using
      errcode = 'CM023', message = format('task %s cannot be %s: a child of it is unsettled', new.id, new.state);
  end if;
  return new;
end;
$$;
