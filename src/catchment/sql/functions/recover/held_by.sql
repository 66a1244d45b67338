-- held_by: which of these attempts still belong to a worker process, so that it can drop what is no longer its own and
-- stop what is cancelled; without ids all of them, for one that may have missed an answer.
create or replace function worker.held_by(
  p_worker_id  bigint,
  p_ids        bigint[] default null
)
  returns table (id bigint, fence bigint, cancel_reason text)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if p_ids is null then
    return query
      select r.id, r.fence, r.cancel_reason
        from worker.running as r
       where r.worker_id = p_worker_id
         and r.backend_key is null;
  else
    return query
      select r.id, r.fence, r.cancel_reason
        from unnest(p_ids) as i (id)
       cross join lateral (select x.* from worker.running as x where x.id = i.id limit 1) as r
       where r.worker_id = p_worker_id;
  end if;
end;
$$;
