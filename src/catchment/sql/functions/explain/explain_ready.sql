-- explain_ready: the task can start; its place in the order of claims, and who could take it. See explain.
create or replace function worker.explain_ready(
  p_queue    text,
  p_command  text,
  p_at       worker.whereabouts,
  p_ahead    bigint,
  p_now      timestamptz
)
  returns setof worker.condition
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select 'ready', false,
         jsonb_strip_nulls(jsonb_build_object(
           'queue', p_queue, 'place', p_ahead + 1, 'since', p_at.since, 'is_interrupted', p_at.rank = 0,
           'is_join', p_at.phase = 1, 'workers', w.n, 'free', w.free)),
         format('%s %s, at place %s of queue %s%s%s.',
                case p_at.phase when 1 then 'Its join' else 'It' end,
                coalesce('has been ready since ' || worker.said_when(p_at.since, p_now), 'starts at the next claim'),
                case when p_ahead >= 1000 then 'after 1000' else (p_ahead + 1)::text end, p_queue,
                case p_at.rank when 0 then '; its last worker died' else '' end,
                case when w.n > 0 then format('; %s %s it', worker.said_count(w.n, 'live worker'),
                                              case w.n when 1 then 'serves' else 'serve' end)
                                       || coalesce(', with ' || worker.said_count(w.free, 'free slot'), '')
                     else '' end),
         null
    -- Null, and not 0, where none of them has slots for it.
    from (select v.n, case when v.slots is not null then
                        greatest(v.slots - (select count(*)
                                              from (select x.worker_id, x.backend_key
                                                      from worker.running as x
                                                     order by x.id
                                                     limit 10000) as r
                                             where r.worker_id = any (v.slotted)
                                               and (r.backend_key is null) = (p_at.kind = 'p')), 0)
                      end as free
            from (select count(*) as n, sum(x.max_capacity) filter (where s.is_for_it) as slots,
                         array_agg(x.worker_id) filter (where s.is_for_it) as slotted
                    from worker.worker as x
                   -- One with Python commands has slots for these, and sessions for SQL handlers besides.
                   cross join lateral (select p_at.kind = 'p'
                                              or not coalesce(cardinality(x.python_commands) > 0,
                                                              x.python_queues <> '{}') as is_for_it) as s
                   where x.lease_until > p_now
                     and x.asked is null
                     and case p_at.kind
                           when 's' then p_queue = any (x.queues)
                           else p_queue = any (x.python_queues)
                                and (x.python_commands is null or p_command = any (x.python_commands))
                         end) as v) as w;
$$;
