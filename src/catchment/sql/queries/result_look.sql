-- result_look: how each of these tasks stands. One that was merged shares the outcome of its survivor.
select t.id, t.root_id, t.command, t.state, coalesce(s.result, t.result) as result,
       coalesce(s.error_detail, t.error_detail) as error,
       case when t.state operator(pg_catalog.=) 'cancelled' then t.progress end as progress
  from worker.tasks as t
  left join lateral (
    select s.result, s.error_detail
      from worker.tasks as s
     where s.id operator(pg_catalog.=) t.merged_into
       and s.state operator(pg_catalog.=) any (array['completed', 'failed', 'cancelled'])
  ) as s on true
 where t.id operator(pg_catalog.=) any (%(ids)s::bigint[])
