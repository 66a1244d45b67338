-- table_lag: when the table became newer since a time, of when its data were then, and until then (before); of each
-- piece of time the moment at which they were oldest. The newest %(most)s are read. Refreshes that had nothing to do,
-- and were forgotten, are in lake.idle.
select distinct on (p.piece) v.at, v.data_at, v.before
  from (select u.at, u.data_at, lag(u.data_at) over (order by u.at, u.data_at) as before
          from (select coalesce(r.published_at, r.finished_at) as at, o.data_at
                  from (select n.* from lake.refresh as n where n.dt_id = %(id)s::bigint order by n.id desc
                         limit %(most)s) as r
                  join lake.round as o on o.id = r.round_id
                 where r.state = 'SUCCEEDED'
                 union all
                (select i.at, i.data_at
                   from (select n.* from lake.idle as n
                          where n.dt_id = %(id)s::bigint and n.until >= %(since)s::timestamptz
                          limit %(most)s) as k
                  cross join lateral unnest(k.seen_at, k.data_at) as i (at, data_at)
                  order by i.at desc
                  limit %(most)s)) as u
         where u.at >= %(since)s::timestamptz) as v
 cross join lateral (select floor(extract(epoch from v.at - %(since)s::timestamptz)::float8 / %(piece)s::float8)
                              as piece) as p
 order by p.piece, v.at - v.before desc nulls last, v.at
