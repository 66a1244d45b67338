-- sweep_cancelled: carry cancel requests out: running descendants are notified, waiting ones are marked, unstarted ones
-- settle, and so do waiting joins. A request is done when nothing under it is left to settle or notify.
--
--   locks   running rows that are free; scope rows deepest first, then id; then see settle_unstarted. Of several
--           requests, those of all trees before any is carried out
--   returns how many requests are done
--   plan    walk
create or replace function worker.sweep_cancelled(p_only bigint default null)
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids     bigint[];
  v_request record;
  v_tree    bigint[];
  v_scopes  bigint[];
  v_done    integer := 0;
  v_aside   bigint[] := case when p_only is null then worker.set_aside('cancel') else '{}' end;
begin
  v_ids := array(select r.task_id from worker.cancel_request as r
                  where (p_only is null or r.task_id = p_only) and r.task_id <> all (v_aside));
  if cardinality(v_ids) > 1 then
    perform worker.lock_trees(v_ids);
  end if;
  for v_request in
    select r.ctid as row_id, r.* from worker.cancel_request as r where r.task_id = any (v_ids) order by r.task_id
       for update skip locked
  loop
    v_tree := worker.unsettled_tree(v_request.task_id);
    update worker.running as r
       set cancel_reason = v_request.reason
     where r.ctid = any (array(select x.ctid from worker.running as x
                                where x.id = any (v_tree) and x.cancel_reason is null
                                  for update skip locked));
    perform worker.tell_cancelled(v_tree);
    -- The marks come first: a scope that closes because its children are cancelled below must know why.
    -- One that opens from here on is left to the next sweep: taken now, it would come after those above it.
    v_scopes := array(select s.id
                        from worker.scope as s
                       where s.id = any (v_tree) and s.state = 'waiting'
                       order by s.depth desc, s.id
                         for no key update);
    update worker.scope as s
       set cancel_reason = v_request.reason
     where s.id = any (v_scopes)
       and s.cancel_reason is null;
    perform worker.settle_unstarted(v_tree, v_request.reason);
    perform worker.cancel_joins(v_tree, v_request.reason);

    -- Look again: a child may have been spawned into a scope of the tree just before that was marked.
    v_tree := worker.unsettled_tree(v_request.task_id);
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
