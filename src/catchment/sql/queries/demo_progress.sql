-- demo_progress: the parent's state and its children by state; hanging are those that run for longer than they should.
select (select t.state from worker.tasks as t where t.id = %(id)s) as state,
       count(*) as total,
       count(*) filter (where c.state = 'completed') as completed,
       count(*) filter (where c.state = 'processing') as processing,
       count(*) filter (
         where c.state = 'processing' and c.process_start_at < worker.now() - interval '500 ms'
       ) as hanging,
       count(*) filter (where c.state = 'pending') as pending,
       count(*) filter (where c.state = 'interrupted') as interrupted,
       count(*) filter (where c.state = 'failed') as failed
  from worker.tasks as c
 where c.parent_id = %(id)s
