-- count_late_children: count, at commit, the late children that are not counted yet. The first call of a transaction
-- counts them all. Each call looks for its own row only, since the index still has entries of those that were counted.
--
--   reads   worker.late_child
--   plan    indexed
create or replace function worker.count_late_children()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from worker.late_child as l where l.xact = new.xact and l.task_id = new.task_id) then
    perform worker.count_late();
  end if;
  return null;
end;
$$;
