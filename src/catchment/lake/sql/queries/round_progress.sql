-- The refreshes of a round, and of the rounds that continued in its place, of each table the last; with the subtasks of
-- those that are spread.
with recursive chain as (
  select %(round_id)s::bigint as id
  union
  select o.id from chain as c join lake.round as o on o.moved_from = c.id
), newest as (
  select max(r.id) as id from lake.refresh as r where r.round_id in (select c.id from chain as c) group by r.dt_id
)
select r.id, r.dynamic_table as name, r.state, r.action, r.reason, r.inserted, r.deleted, r.keys, r.rows_after as rows,
       r.data_snapshot, r.data_timestamp, r.execute_ms / 1000 as seconds, r.error_code, r.error_text as error,
       (t.progress ->> 'done')::integer as done, (t.progress ->> 'total')::integer as total, r.figures
  from newest as n
  join lake.refreshes as r on r.id = n.id
  left join worker.tasks as t on t.id = r.task_id and t.state = 'waiting' and r.is_parallel
 order by r.id
