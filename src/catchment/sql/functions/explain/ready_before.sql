-- ready_before: how many ready tasks of its queue a claim takes before this one, of the first 1000: without those that
-- were asked to stop.
create or replace function worker.ready_before(
  p_task_id  bigint,
  p_at       worker.whereabouts
)
  returns bigint
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select count(*)
    from (select r.id, r.tier
            from worker.ready as r
           where r.queue_id = p_at.queue_id
             and r.kind = p_at.kind
             and (r.tier, r.band, r.rank, r.place, r.id) < (p_at.tier, p_at.band, p_at.rank, p_at.place, p_task_id)
           order by r.queue_id, r.kind, r.tier, r.band, r.rank, r.place, r.id
           limit 1000) as a
   where not exists (select from worker.cancel_request)
      or a.tier = 1
      or not worker.is_cancelling(a.id);
$$;
