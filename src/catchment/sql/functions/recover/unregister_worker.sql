-- unregister_worker: a worker process ends in order. Whatever it still holds is given back without using an attempt.
create or replace function worker.unregister_worker(p_worker_id bigint)
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set jit = off
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  set enable_sort = off
as $$
declare
  v_ids    bigint[];
  v_fences bigint[];
begin
  select array_agg(r.id), array_agg(r.fence) into v_ids, v_fences
    from worker.running as r
   where r.worker_id = p_worker_id and r.backend_key is null;
  if v_ids is not null then
    perform worker.settle(v_ids, v_fences, array_fill('released'::text, array[cardinality(v_ids)]));
  end if;
  perform worker.leave_top(array[p_worker_id]);
  delete from worker.sleeper as s where s.worker_id = p_worker_id;
  delete from worker.worker as w where w.worker_id = p_worker_id;
end;
$$;
