-- demo_result: what happened.
select (select t.state from worker.tasks as t where t.id = %(id)s) as state,
       (select count(*) from worker.tasks as c where c.parent_id = %(id)s and c.state = 'completed') as children,
       (select count(*) from demo.effect) as effects,
       (select count(*) from worker.attempt as a join worker.tasks as c on c.id = a.task_id
         where c.parent_id = %(id)s and a.state = 'interrupted') as interrupted,
       r.task_id as retried_id,
       r.error ->> 'message' as retried_error
  from (select 1) as one
  left join lateral (
    select a.task_id, a.error
      from worker.attempt as a
      join worker.tasks as c on c.id = a.task_id
     where c.parent_id = %(id)s and a.state = 'failed'
     limit 1
  ) as r on true
