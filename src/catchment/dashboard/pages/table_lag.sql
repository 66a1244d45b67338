-- table_lag: when the table became newer since a time, and of when its data were then; the newest, and no more than
-- %(most)s of them are looked at. Refreshes that had nothing to do, and were forgotten, are in lake.idle.
select v.at, v.data_at
  from (select coalesce(r.published_at, r.finished_at) as at, o.data_at
          from (select n.* from lake.refresh as n where n.dt_id = %(id)s::bigint order by n.id desc
                 limit %(most)s) as r
          join lake.round as o on o.id = r.round_id
         where r.state = 'SUCCEEDED'
         union all
        select u.at, u.data_at
          from (select n.* from lake.idle as n where n.dt_id = %(id)s::bigint and n.until >= %(since)s::timestamptz
                 limit %(most)s) as i
         cross join lateral unnest(i.seen_at, i.data_at) as u (at, data_at)) as v
 where v.at >= %(since)s::timestamptz
 order by v.at desc, v.data_at desc
 limit %(most)s
