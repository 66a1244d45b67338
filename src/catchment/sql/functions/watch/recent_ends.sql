-- recent_ends: how many tasks of each queue have ended lately, and in how many seconds: p_within, or less where p_most
-- tasks ended in less. Its cost does not grow with the rate.
--
--   plan    walk_sorted
create or replace function worker.recent_ends(
  p_within  interval default '1 minute',
  p_most    integer default 2000
)
  returns table (queue text, ended bigint, seconds double precision)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with looked as materialized (
    select o.id, o.completed_at
      from worker.outcome as o
     where o.completed_at > (select worker.now() - p_within)
     order by o.completed_at desc
     limit p_most
  ), far as (
    select case when count(*) < p_most then extract(epoch from p_within)
             else greatest(extract(epoch from worker.now() - min(l.completed_at)), 0.001) end as seconds
      from looked as l
  )
  select q.queue, count(*), f.seconds::double precision
    from looked as l
    join worker.task as t on t.id = l.id
    join worker.queue_registry as q on q.queue_id = t.queue_id
   cross join far as f
   group by q.queue, f.seconds;
$$;
