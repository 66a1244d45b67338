-- scope_groups: the children of a task by command and state, and besides by when they settled: p_bins parts of the time
-- from p_from to p_to. Of more than p_most children a sample is looked at: 20 in a row at each of p_points places,
-- evenly apart; and besides all that are failed, cancelled, interrupted, processing or waiting, at most p_most of each
-- state. The figures of a state have to be scaled then, so that they add up to what scope_figures says.
--
--   returns for each command and state: tasks, and in seconds the median and the 95th percentile of what the handlers
--           took, with bin null; and for each bin of settled ones
--   plan    walk_sorted
create or replace function worker.scope_groups(
  p_scope_id  bigint,
  p_from      timestamptz,
  p_to        timestamptz,
  p_bins      integer default 60,
  p_most      integer default 2000,
  p_points    integer default 100
)
  returns table (command text, state text, bin integer, tasks bigint, median double precision, slow double precision)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_scope worker.scope;
  v_ids   bigint[];
  v_rare  bigint[] := '{}';
  v_whole text[] := '{}'; -- states of which all are looked at, apart from the sample
  v_low   bigint;
  v_high  bigint;
begin
  select s.* into v_scope from worker.scope as s where s.id = p_scope_id;
  if v_scope.total_children <= p_most then
    v_ids := array(select t.id
                     from worker.task as t
                    where t.parent_id = p_scope_id
                    order by t.parent_id, t.id
                    limit p_most);
  else
    select t.id into v_low from worker.task as t where t.parent_id = p_scope_id order by t.parent_id, t.id limit 1;
    select t.id into v_high
      from worker.task as t
     where t.parent_id = p_scope_id
     order by t.parent_id desc, t.id desc
     limit 1;
    v_ids := array(select distinct x.id
                     from generate_series(0, p_points - 1) as n
                    cross join lateral (select t.id
                                          from worker.task as t
                                         where t.parent_id = p_scope_id
                                           and t.id >= v_low + ((v_high - v_low)::numeric * n / p_points)::bigint
                                         order by t.parent_id, t.id
                                         limit 20) as x);
    v_whole := array['processing', 'interrupted', 'waiting']
               || case when v_scope.failed_children <= p_most then array['failed'] end
               || case when v_scope.cancelled_children <= p_most then array['cancelled'] end;
    v_rare := array(select o.id
                      from worker.outcome as o
                     where o.parent_id = p_scope_id and o.state <> 'completed' and o.state = any (v_whole)
                     order by o.parent_id, o.state, o.id
                     limit 2 * p_most)
              || array(select s.id
                         from worker.scope as s
                        where s.parent_id = p_scope_id and s.state = 'waiting'
                        order by s.id
                        limit p_most)
              || array(select x.id
                         from ((select r.id from worker.running as r order by r.id limit p_most)
                               union
                               (select r.id from worker.ready as r where r.rank = 0 order by r.id limit p_most)) as x
                         join worker.task as t on t.id = x.id
                        where t.parent_id = p_scope_id);
  end if;

  return query
  with looked as materialized (
    select t.command, x.is_rare,
           coalesce(o.state,
                    case
                      when exists (select from worker.running as r where r.id = t.id) then 'processing'
                      when exists (select from worker.scope as s where s.id = t.id and s.state = 'waiting')
                        then 'waiting'
                      when exists (select from worker.ready as r where r.id = t.id and r.rank = 0) then 'interrupted'
                      else 'pending'
                    end) as state,
           case when isfinite(o.completed_at) then
             width_bucket(extract(epoch from o.completed_at)::float8, extract(epoch from p_from)::float8,
                          extract(epoch from p_to)::float8, p_bins)
           end as bin,
           case when o.state = 'completed' and isfinite(o.stopped_at) and isfinite(o.started_at)
             then extract(epoch from o.stopped_at - o.started_at)::float8 end as took
      from (select i.id, false as is_rare from unnest(v_ids) as i (id)
            union all
            select distinct i.id, true from unnest(v_rare) as i (id)) as x
      join worker.task as t on t.id = x.id
      left join worker.outcome as o on o.id = t.id
  )
  select l.command, l.state, l.bin, count(*), percentile_cont(0.5) within group (order by l.took),
         percentile_cont(0.95) within group (order by l.took)
    from looked as l
   where l.is_rare = (l.state = any (v_whole))
   group by grouping sets ((l.command, l.state), (l.command, l.state, l.bin))
  having grouping(l.bin) = 1 or l.bin is not null
   order by l.command, l.state, l.bin;
end;
$$;
