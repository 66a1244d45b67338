-- unregister_worker: remove a worker process. Its claims are released without using an attempt, except p_interrupted:
-- the tasks whose handlers were running when the process failed.
--
--   processing -> pending; interrupted, or failed at the fifth time
--   locks   see settle
--   plan    walk
create or replace function worker.unregister_worker(p_worker_id bigint, p_interrupted bigint[] default '{}')
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids    bigint[];
  v_fences bigint[];
  v_asked  text[];
begin
  select array_agg(r.id), array_agg(r.fence),
         array_agg(case when r.id = any (p_interrupted) then 'interrupted' else 'released' end)
    into v_ids, v_fences, v_asked
    from worker.running as r
   where r.worker_id = p_worker_id and r.backend_key is null;
  if v_ids is not null then
    perform worker.settle(v_ids, v_fences, v_asked,
                          array(select case when a.asked = 'interrupted'
                                            then '{"kind": "interrupted", "message": "its worker failed"}'::jsonb end
                                  from unnest(v_asked) with ordinality as a (asked, n) order by a.n));
  end if;
  perform worker.leave_top(array[p_worker_id]);
  delete from worker.sleeper as s where s.worker_id = p_worker_id;
  delete from worker.worker as w where w.worker_id = p_worker_id;
end;
$$;
