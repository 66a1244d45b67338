-- refuse_outcome_of_open_scope: refuse an outcome for a waiting task.
--
--   raises  CM023 a child has not settled
create or replace function worker.refuse_outcome_of_open_scope()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_id bigint;
begin
  select s.id into v_id
    from worker.scope as s
   where s.id = any (array(select n.id from new_rows as n))
     and s.state = 'waiting'
   limit 1;
  if found then
    raise exception using errcode = 'CM023', message = format('task %s waits for its children: it cannot settle', v_id);
  end if;
  return null;
end;
$$;
