-- move_refreshes: one step of these rounds: what can move is settled or becomes a task in the lane of its table.
--
--   returns whether anything has moved
--   locks   refresh rows; of tables without changes the frontier rows too
create or replace function lake.move_refreshes(p_rounds bigint[])
  returns boolean
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_idle   bigint[] := '{}';
  v_epochs bigint[] := '{}';
  v_moved  boolean := false;
  v_task   bigint;
  v_fate   record;
begin
  for v_fate in select m.* from lake.fates(p_rounds) as m order by m.refresh_id loop
    v_moved := true;
    if v_fate.fate = 'NO_DATA' then
      v_idle := v_idle || v_fate.refresh_id;
      v_epochs := v_epochs || v_fate.epoch;
    elsif v_fate.fate = 'START' then
      -- Locked first: another session may be cancelling it.
      perform r.id from lake.refresh as r where r.id = v_fate.refresh_id and r.finished_at is null for update;
      if found then
        v_task := worker.enqueue('lake_refresh', jsonb_build_object('refresh_id', v_fate.refresh_id),
                                 p_lane => 'table-' || v_fate.dt_id);
        update lake.refresh as r set task_id = v_task, queued_at = worker.now() where r.id = v_fate.refresh_id;
      end if;
    else
      perform lake.settle_refresh(v_fate.refresh_id, v_fate.fate, null, v_fate.reason);
      -- One that moves to another round is skipped too, but not here.
      perform lake.give_up_replacement(v_fate.dt_id);
    end if;
  end loop;
  if v_idle <> '{}' then
    perform lake.settle_idle(v_idle, v_epochs);
  end if;
  return v_moved;
end;
$$;
