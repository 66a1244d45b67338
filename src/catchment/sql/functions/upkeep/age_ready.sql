-- age_ready: long-waiting tasks move to an earlier band, so that urgent work cannot starve the rest. A queue whose
-- ready tasks all have one band is left alone.
--
--   locks   ready rows that are free
create or replace function worker.age_ready(
  p_limit  integer default 10000,
  p_only   text default null
)
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now   timestamptz := worker.now();
  v_count integer;
  v_aside text[] := case when p_only is null then worker.set_aside('age') else '{}' end;
begin
  with mixed as (
    select q.queue_id, q.age_every, q.age_step
      from worker.queue_registry as q
     where q.age_step > 0
       and (p_only is null or q.queue = p_only)
       and q.queue <> all (v_aside)
       and (select min(r.band) <> max(r.band) from worker.ready as r where r.queue_id = q.queue_id)
  ),
  old as (
    select r.ctid, m.age_step
      from worker.ready as r
      join mixed as m on m.queue_id = r.queue_id
     where r.since < v_now - m.age_every
       and r.band > 0
     limit p_limit
       for update of r skip locked
  )
  update worker.ready as r
     set band  = greatest(0, r.band - o.age_step),
         since = v_now
    from old as o
   where r.ctid = o.ctid;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
