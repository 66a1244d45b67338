-- tables_lag: the newest refreshes of some tables that have made them newer: when each became visible, and of when its
-- data were.
select t.id, r.at, o.data_at
  from unnest(%(ids)s::bigint[]) as t (id)
 cross join lateral (select x.round_id, coalesce(x.published_at, x.finished_at) as at
                       from (select n.* from lake.refresh as n where n.dt_id = t.id order by n.id desc
                              limit %(most)s) as x
                      where x.state = 'SUCCEEDED') as r
  join lake.round as o on o.id = r.round_id
 order by t.id, r.at, o.data_at
