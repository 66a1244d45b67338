-- refuse_orphans: refuse to delete a task that has children or has not settled. Retention deletes whole settled trees.
--
--   raises  CM007 worker.tasks does not accept this write
create or replace function worker.refuse_orphans()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_id bigint;
begin
  select o.id into v_id
    from old_rows as o
   where exists (select from worker.task as c where c.parent_id = o.id)
      or exists (select from worker.scope as s where s.id = o.id)
      or exists (select from worker.ready as r where r.id = o.id)
      or exists (select from worker.running as r where r.id = o.id)
      or exists (select from worker.blocked as b where b.id = o.id)
   limit 1;
  if found then
    raise exception using
      errcode = 'CM007',
      message = format('task %s cannot be deleted: it has children, or has not settled', v_id),
      hint = 'Use worker.cancel for work that should not run; the command task_cleanup deletes settled tasks.';
  end if;
  return null;
end;
$$;
