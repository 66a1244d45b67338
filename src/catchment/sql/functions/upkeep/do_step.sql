-- do_step: one step of upkeep, for all that is due or for one item. An item that no longer exists is not an error.
--
--   locks   see the functions it calls
--   returns how many items were done
create or replace function worker.do_step(
  p_step  text,
  p_item  text,
  p_dead  bigint[]
)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  case p_step
    when 'interrupt' then return worker.interrupt_abandoned(p_dead, p_item::bigint);
    when 'forget'    then
      perform worker.forget_workers(array(
        select d
          from unnest(p_dead) as d
         where case when p_item is null then d::text <> all (worker.set_aside('forget')) else d::text = p_item end));
      return null;
    when 'orphan'    then return worker.interrupt_orphans(p_item::bigint);
    when 'cancel'    then return worker.sweep_cancelled(p_item::bigint);
    when 'deadline'  then return worker.expire_deadlines(p_item::bigint);
    when 'due'       then return worker.promote_due(p_only => p_item::bigint);
    when 'lane'      then return worker.admit_arrivals(p_only => p_item);
    when 'gate'      then return worker.admit_to_gates(p_only => p_item);
    when 'schedule'  then return worker.fire_schedules(p_item);
    when 'adopt'     then return worker.adopt_schedules(p_item);
    when 'age'       then return worker.age_ready(p_only => p_item);
    when 'scope'     then return worker.close_idle_scopes(p_only => p_item::bigint);
    when 'rouse'     then return worker.rouse_limited();
  end case;
end;
$$;
