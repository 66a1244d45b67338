-- sweep_cancelled: carry cancel requests out: unstarted descendants settle, running ones are told, waiting ones are marked.
-- A request is done when nothing under it is left to settle or to tell.
--
--   locks   see settle_unstarted; running and scope rows that are free
--   returns how many requests are done
create or replace function worker.sweep_cancelled()
  returns integer
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  set enable_sort = off
as $$
declare
  v_request record;
  v_tree    bigint[];
  v_done    integer := 0;
begin
  for v_request in select r.ctid as row_id, r.* from worker.cancel_request as r order by r.task_id for update skip locked loop
    with recursive tree as (
      select v_request.task_id as id
      union all
      select c.id from tree as p join worker.task as c on c.parent_id = p.id
    )
    select array_agg(t.id) into v_tree
      from tree as t
     where not exists (select from worker.outcome as o where o.id = t.id);
    if v_tree is not null then
      perform worker.settle_unstarted(v_tree, v_request.reason);
      update worker.scope as s
         set cancel_reason = v_request.reason
       where s.ctid = any (array(select x.ctid from worker.scope as x
                                  where x.id = any (v_tree) and x.state = 'waiting' and x.cancel_reason is null
                                    for no key update skip locked));
      update worker.running as r
         set cancel_reason = v_request.reason
       where r.ctid = any (array(select x.ctid from worker.running as x
                                  where x.id = any (v_tree) and x.cancel_reason is null
                                    for update skip locked));
    end if;
    if not exists (select from worker.ready as x where x.id = any (v_tree))
       and not exists (select from worker.blocked as x where x.id = any (v_tree) and x.reason <> 'merged')
       and not exists (select from worker.running as x where x.id = any (v_tree) and x.cancel_reason is null)
       and not exists (select from worker.scope as x where x.id = any (v_tree) and x.cancel_reason is null) then
      delete from worker.cancel_request as r where r.ctid = v_request.row_id;
      v_done := v_done + 1;
    end if;
  end loop;
  return v_done;
end;
$$;
