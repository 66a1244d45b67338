-- hold_follow_ups: follow-ups that were cancelled because their root failed wait for it again, now that it is retried.
-- A follow-up that was cancelled itself stays cancelled.
--
--   cancelled -> pending
--   locks   their outcome rows
create or replace function worker.hold_follow_ups(p_root_id bigint)
  returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  with again as (
    delete from worker.outcome as o
     using worker.task as t
     where t.follows_id = p_root_id
       and o.id = t.id
       and o.error ? 'follows'
    returning o.id
  )
  insert into worker.blocked (id, reason, wait_id, queue_id, kind, tier, band, rank, place, lane)
  select t.id, 'follow_up', p_root_id, t.queue_id, t.kind, 1, t.priority, 1, t.place, t.lane
    from again as a
    join worker.task as t on t.id = a.id;
$$;
