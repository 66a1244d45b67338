-- recover_rounds: recover lost work. A round that is open without tasks is closed and its changes are returned; if
-- something waits for a round and none is requested, one is requested, with a longer delay the more rounds have failed
-- in a row. Called whenever a stage has settled, by each collection, and each day; safe to repeat.
--
--   locks   the open round's row, only if it is free: a stage at work holds it
--   returns the round that was given back, or null
create or replace function register.recover_rounds()
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round_id bigint;
  v_failures integer;
begin
  select r.id into v_round_id from register.round as r where r.state = 'open' for update skip locked;
  if v_round_id is not null then
    if exists (select from worker.open_tasks('{analytics}') as t
                where t.payload ->> 'round_id' = v_round_id::text) then
      return null;
    end if;
    perform register.give_back(v_round_id);
  elsif exists (select from register.round as r where r.state = 'open') then
    return null;
  end if;

  if register.needs_round()
     and not exists (select from worker.open_tasks('{analytics}', '{collect_changes}')) then
    select r.failures into v_failures from register.round as r order by r.id desc limit 1;
    perform worker.enqueue(
      'collect_changes',
      p_scheduled_at => worker.now() + least(interval '5 minutes',
                                             interval '1 second' * 2 ^ least(coalesce(v_failures, 0), 10)));
  end if;
  return v_round_id;
end;
$$;
