-- run_bulk_batch: handler of the command bulk_batch, a child of a bulk: changes the next tasks, records its progress,
-- and spawns the next batch unless that was the last. All of it commits together, so a batch whose worker dies runs
-- again from where the one before it has ended. A task that cannot be changed is counted and skipped. A failed child of
-- a parent that has settled is retried by the retry of the topmost of these.
--
-- A batch is short, because it keeps the locks of all its tasks until its end: at most c_tasks of them and c_time. If
-- one is locked by others, the batch ends before it; only the first is waited for, while nothing else is locked. So
-- there is no deadlock.
--
--   locks   the bulk; see retry and cancel
--   raises  CM019 the arguments do not fit the command
--   session sets lock_timeout
create or replace procedure worker.run_bulk_batch(
  p_payload     jsonb,
  inout p_info  jsonb
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_looked constant integer := 5000;
  c_tasks  constant integer := 250;
  c_time   constant interval := '500 milliseconds';
  v_began   timestamptz := clock_timestamp();
  v_bulk    worker.bulk;
  v_page    record;
  v_done    integer := 0;
  v_skipped integer := 0;
  v_problem text;
  v_is_all  boolean := true;
begin
  select b.* into v_bulk from worker.bulk as b where b.task_id = worker.current_parent_id() for update;
  if not found then
    raise exception using
      errcode = 'CM019',
      message = format('task %s is no batch of a bulk', worker.current_task_id()),
      hint = 'Call worker.start_bulk.';
  end if;
  select p.* into v_page
    from worker.bulk_page(v_bulk.verb, v_bulk.filter, v_bulk.asked_at, v_bulk.task_id, v_bulk.last_at, v_bulk.last_id,
                          c_looked) as p;
  for v_place in 1 .. cardinality(v_page.ids) loop
    if v_place > c_tasks or (v_place > 1 and clock_timestamp() > v_began + c_time) then
      v_is_all := false;
    else
      begin
        perform set_config('lock_timeout', case v_place when 1 then '0' else '100ms' end, true);
        if worker.change_by_bulk(v_bulk, v_page.ids[v_place]) then
          v_done := v_done + 1;
        end if;
      exception
        when lock_not_available then
          v_is_all := false;
        when others then
          -- Deadlocks, a full disk, a server that stops: nothing that is wrong with this task.
          if left(sqlstate, 2) in ('40', '53', '57', '58') then
            raise;
          end if;
          v_skipped := v_skipped + 1;
          v_problem := coalesce(v_problem, sqlerrm);
      end;
    end if;
    exit when not v_is_all;
    v_bulk.last_at := v_page.ats[v_place];
    v_bulk.last_id := v_page.ids[v_place];
  end loop;
  perform set_config('lock_timeout', '0', true);
  if v_is_all and v_page.looked > 0 then
    v_bulk.last_at := v_page.last_at;
    v_bulk.last_id := v_page.last_id;
  end if;
  update worker.bulk as b
     set last_at = v_bulk.last_at,
         last_id = v_bulk.last_id,
         done    = b.done + v_done,
         skipped = b.skipped + v_skipped,
         problem = coalesce(b.problem, left(v_problem, 500))
   where b.id = v_bulk.id;
  if not v_is_all or v_page.looked = c_looked then
    perform worker.spawn_child('bulk_batch', p_payload, worker.current_parent_id());
  end if;
  p_info := jsonb_build_object('done', v_done, 'skipped', v_skipped);
end;
$$;
