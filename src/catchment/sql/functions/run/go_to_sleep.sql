-- go_to_sleep: mark a worker as asleep on a queue, so that enqueues notify it. It must look once more after this
-- commits. Tier 1 of a serial queue whose lane is held becomes tier 2: only the lane can wake it.
--
--   session sets synchronous_commit
create or replace function worker.go_to_sleep(
  p_worker_id  bigint,
  p_queue      text,
  p_tiers      integer[],
  p_kind       "char" default 's'
)
  returns integer[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue_id integer := (select q.queue_id from worker.queue_registry as q where q.queue = p_queue);
  v_tiers    integer[] := p_tiers;
begin
  perform set_config('synchronous_commit', 'off', true);
  if exists (select from worker.lane as l where l.queue_id = v_queue_id and l.lane = '' and l.head_id is not null) then
    v_tiers := array_replace(v_tiers, 1, 2);
  end if;
  insert into worker.sleeper (worker_id, queue_id, tier, kind)
  select p_worker_id, v_queue_id, t, p_kind from unnest(v_tiers) as t
  on conflict do nothing;
  return v_tiers;
end;
$$;
