-- merge_into_pending: fold a new payload into a ready or scheduled task of the same key, if its row is free right now.
--
--   returns the id of that task, or null: then the caller appends, and the claim folds what has committed
--   locks   the twin's ready or blocked row, only if nobody holds it; a claim steps over it meanwhile
create or replace function worker.merge_into_pending(
  p_key           text,
  p_rules         jsonb,
  p_payload       jsonb,
  p_priority      integer,
  p_scheduled_at  timestamptz
)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_id     bigint;
  v_due_at timestamptz;
begin
  select k.id into v_id from worker.pending_key as k where k.dedup_key = p_key order by k.id limit 1;
  if v_id is null then
    return null;
  end if;

  update worker.ready as r
     set band = least(r.band, p_priority)
   where r.ctid = (select t.ctid from worker.ready as t where t.id = v_id and t.attempt = 0 for update skip locked);
  if not found then
    update worker.blocked as b
       set band   = least(b.band, p_priority),
           due_at = least(b.due_at, coalesce(p_scheduled_at, worker.now()))
     where b.ctid = (select t.ctid
                       from worker.blocked as t
                      where t.id = v_id
                        and t.attempt = 0
                        and t.reason = 'scheduled'
                        for update skip locked)
    returning b.due_at into v_due_at;
    if not found then
      return null;
    end if;
  end if;

  update worker.task as t
     set payload      = worker.check_payload(t.command, worker.merge_payload(p_rules, t.payload, p_payload)),
         priority     = least(t.priority, p_priority),
         scheduled_at = coalesce(v_due_at, t.scheduled_at)
   where t.id = v_id;
  return v_id;
end;
$$;
