-- take_late: delete the notes of late children that this transaction has not counted yet, and return them as changes to
-- their scopes. A scope that is gone stays in the list, so that it is refused.
--
--   reads   worker.late_child
--   writes  worker.late_child
--   session reads worker.late, sets worker.late
create or replace function worker.take_late()
  returns worker.scope_change[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_late worker.scope_change[];
begin
  if nullif(current_setting('worker.late', true), '') is null
     and not exists (select from worker.late_child as l where l.xact = pg_current_xact_id_if_assigned()) then
    return null;
  end if;
  with gone as (
    delete from worker.late_child as l where l.xact = pg_current_xact_id_if_assigned() returning l.parent_id
  ),
  late as (
    select g.parent_id, count(*)::integer as n from gone as g group by g.parent_id
  )
  select array_agg(worker.counted_change(
           l.parent_id, coalesce((select s.depth from worker.scope as s where s.id = l.parent_id), 0),
           p_spawned => l.n))
    into v_late
    from late as l;
  perform set_config('worker.late', '', true);
  return v_late;
end;
$$;
