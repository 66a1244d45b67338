-- retry_troubles: retry, one by one, the items that upkeep has set aside and that are due. Those that work are
-- forgotten.
--
--   locks   see do_step
--   returns how many work now
create or replace function worker.retry_troubles(p_dead bigint[])
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '50ms'
as $$
declare
  c_many     constant integer := 100;
  v_trouble  record;
  v_done     integer := 0;
  v_sqlstate text;
  v_message  text;
begin
  for v_trouble in
    select t.step, t.item
      from worker.trouble as t
     where t.retry_at <= worker.now()
       and t.item <> ''
       and t.step not in ('hanging', 'signal', 'vacuum')
     order by t.retry_at
     limit c_many
  loop
    begin
      perform worker.do_step(v_trouble.step, v_trouble.item, p_dead);
      perform worker.forget_trouble(v_trouble.step, v_trouble.item);
      v_done := v_done + 1;
    exception
      when others then
        get stacked diagnostics v_sqlstate = returned_sqlstate, v_message = message_text;
        perform worker.note_trouble(v_trouble.step, v_trouble.item, v_sqlstate, v_message);
    end;
  end loop;
  return v_done;
end;
$$;
