-- table_refreshes: a page of the refreshes of one table, the newest first. Those that had nothing to do are most of
-- them; without them the page looks at the next %(looked)s.
with looked as (
  select r.*
    from lake.refresh as r
   where r.dt_id = %(id)s::bigint
     and (%(before)s::bigint is null or r.id < %(before)s::bigint)
   order by r.id desc
   limit %(looked)s
)
select r.id, r.round_id, o.trigger,
       case when r.state in ('PUBLISHING', 'PUBLISHED') then 'EXECUTING' else r.state end as state, r.action, r.reason,
       r.inserted, r.deleted, r.rows_after as rows, r.keys, r.created_at, r.started_at, r.finished_at, o.data_at,
       extract(epoch from r.started_at - r.created_at)::float8 as waited_seconds,
       extract(epoch from r.finished_at - r.started_at)::float8 as took_seconds,
       r.plan is not null as is_parallel, r.error_code, left(r.error_text, 1000) as error, r.task_id
  from looked as r
  join lake.round as o on o.id = r.round_id
 where %(idle)s::boolean
    or r.action is distinct from 'no_data' and r.state <> 'SKIPPED'
 order by r.id desc
 limit %(page)s
