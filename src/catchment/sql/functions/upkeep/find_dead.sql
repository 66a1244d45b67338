-- find_dead: mark_dead_workers as a step of upkeep: if it fails, that is noted as a trouble, and no worker counts as
-- dead.
--
--   locks   see mark_dead_workers
create or replace function worker.find_dead()
  returns bigint[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_dead     bigint[];
  v_sqlstate text;
  v_message  text;
begin
  v_dead := worker.mark_dead_workers();
  if exists (select from worker.trouble as t where t.step = 'dead') then
    perform worker.forget_trouble('dead');
  end if;
  return v_dead;
exception
  when others then
    get stacked diagnostics v_sqlstate = returned_sqlstate, v_message = message_text;
    perform worker.note_trouble('dead', '', v_sqlstate, v_message);
    return '{}';
end;
$$;
