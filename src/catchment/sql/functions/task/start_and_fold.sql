-- start_and_fold: the picked rows of a queue become attempts, and take in the pending twins of deduplicated ones.
--
--   ready -> processing
--   locks   see start_ready and fold_pending
create or replace function worker.start_and_fold(
  p_rows         tid[],
  p_queue        text,
  p_worker_id    bigint,
  p_backend_key  bigint,
  p_serial       boolean default false
)
  returns setof worker.claimed
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_claimed worker.claimed[];
begin
  if not exists (select from worker.command_registry as c where c.queue = p_queue and c.dedup is not null) then
    return query select s.* from worker.start_ready(p_rows, p_serial, p_worker_id, p_backend_key) as s;
    return;
  end if;
  v_claimed := array(select s from worker.start_ready(p_rows, p_serial, p_worker_id, p_backend_key) as s);
  perform worker.fold_pending(c.id, array(select t.id from unnest(v_claimed) as t where t.has_twins))
     from unnest(v_claimed) as c
    where c.has_twins;
  return query
    select c.id, c.fence, c.command, t.payload, c.attempt, c.phase, c.parent_id, c.depth, c.lane, c.queue_id, c.timeout,
           c.failures, c.max_attempts, r.is_plain, c.has_twins, c.trace, c.before_procedure
      from unnest(v_claimed) with ordinality as c
     cross join lateral (select t.payload from worker.task as t where t.id = c.id limit 1) as t
     -- of twins in one claim, one runs
     cross join lateral (select r.is_plain from worker.running as r where r.id = c.id limit 1) as r
     order by c.ordinality;
end;
$$;
