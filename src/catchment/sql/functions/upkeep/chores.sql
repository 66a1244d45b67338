-- chores: the part of upkeep that reads whole tables and runs rarely: ageing, attempts of workers that are not
-- registered any more, scopes that were left open, schedules of workers that have left. A step or an item that fails
-- does not affect the others. One session at a time.
--
--   locks   the turn of chores; then see do_step
--   session sets synchronous_commit
create or replace function worker.chores()
  returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_began timestamptz := worker.now();
  v_done  jsonb;
begin
  if not worker.take_turn('chores') then
    return '{}';
  end if;
  perform set_config('synchronous_commit', 'off', true);
  v_done := jsonb_build_object('aged', worker.keep_step('age'), 'interrupted', worker.keep_step('orphan'),
                               'closed', worker.keep_step('scope'), 'adopted', worker.keep_step('adopt'));
  return v_done || jsonb_strip_nulls(jsonb_build_object('troubles', worker.new_troubles(v_began)));
end;
$$;
