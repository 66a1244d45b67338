-- table: the details of one dynamic table beside its row in the list. Counts stop at %(most)s.
select d.definition, d.properties, d.reason as mode_reason, d.strategy, d.buckets, d.created_at,
       d.layout -> 'visible' as columns, f.data_snapshot, s.files, s.bytes,
       (select jsonb_agg(jsonb_build_object('action', c.action, 'count', c.n, 'ms', c.ms) order by c.action)
          from (select x.action, count(*) as n, avg(x.ms) as ms from lake.cost_sample as x where x.dt_id = d.id
                 group by x.action) as c) as costs,
       (select jsonb_agg(coalesce(u.schema_name || '.' || u.name, s.schema_name || '.' || s.table_name)
                         order by s.table_id)
          from lake.source as s
          left join lake.dt as u on u.id = s.source_dt_id
          left join lake.read as e on e.dt_id = s.dt_id and e.table_id = s.table_id
         where s.dt_id = d.id
           and (e.snapshot is null
                or case when s.source_dt_id is not null
                        then e.snapshot is distinct from (select p.commit_snapshot from lake.frontier as p
                                                           where p.dt_id = s.source_dt_id)
                        else exists (select from lake.change as c where c.table_id = s.table_id
                                        and c.kind <> 'upkeep' and c.snapshot_id > e.snapshot) end)) as changed,
       (select max(n.snapshot_id) from lake.ducklake_snapshot as n) - (select l.scanned_snapshot from lake.lake as l)
         as unseen,
       d.is_always_due, a.at as audit_at, a.missing as audit_missing, a.extra as audit_extra, a.ms as audit_ms,
       (select count(*)
          from (select
                  from (select r.state, r.action, r.finished_at from lake.refresh as r where r.dt_id = d.id
                         order by r.id desc limit %(most)s) as x
                 where x.state = 'SUCCEEDED' and x.action <> 'no_data'
                   and x.finished_at > coalesce(a.at, '-infinity')) as y) as written_since_audit
  from lake.dt as d
  join lake.frontier as f on f.dt_id = d.id
 cross join lateral (select count(*) as files, coalesce(sum(x.file_size_bytes), 0)::bigint as bytes
                       from lake.ducklake_data_file as x
                      where x.table_id = d.physical_id and x.end_snapshot is null) as s
  left join lateral (select u.* from lake.audit_run as u where u.dt_id = d.id order by u.at desc limit 1) as a on true
 where d.id = %(id)s::bigint
