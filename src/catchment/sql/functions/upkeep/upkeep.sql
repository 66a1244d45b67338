-- upkeep: one round of what must happen without a caller: dead workers, cancelled subtrees, deadlines, due tasks,
-- schedules. One session at a time: a second one does nothing. If nothing is due, nothing is locked. A step or an item
-- that fails is noted in worker.trouble and does not affect the others. Runs with the caller's rights, which must allow
-- signalling the sessions of workers.
--
--   locks   the turn of upkeep; then see do_step
--   returns what was done, the schedules that fired, whether after hooks are due, whether a worker is without its lock
--           and may be dead after the grace, and which tables that claims read have many dead rows
--   session sets synchronous_commit
create or replace function worker.upkeep()
  returns jsonb
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  c_hot  constant text[] := '{ready,running,blocked,arrival,lane,pending_key,cancel_request}';
  c_dead constant integer := 5000;
  v_done jsonb := '{}';
begin
  if worker.upkeep_is_due() then
    if not worker.take_turn('upkeep') then
      return '{}';
    end if;
    -- What a crash forgets is simply due again.
    perform set_config('synchronous_commit', 'off', true);
    v_done := worker.keep_engine();
  end if;
  return v_done || jsonb_build_object(
    'hooks_due', worker.has_after_calls(),
    'has_suspects', worker.has_suspects(),
    'bloated', array(select n.name
                       from unnest(c_hot) as n (name)
                      where pg_stat_get_dead_tuples(to_regclass('worker.' || n.name)) > c_dead));
end;
$$;
