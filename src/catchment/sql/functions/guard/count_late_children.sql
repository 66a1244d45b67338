-- count_late_children: at commit, scopes learn of the children that were inserted from outside a handler. The first of a transaction
-- counts them all; each looks for its own row alone, since those that were counted are still in the index.
create or replace function worker.count_late_children()
  returns trigger
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
as $$
begin
  if exists (select from worker.late_child as l where l.xact = new.xact and l.task_id = new.task_id) then
    perform worker.count_late();
  end if;
  return null;
end;
$$;
