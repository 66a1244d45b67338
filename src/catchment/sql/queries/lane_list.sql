-- lane_list: lanes with work, the halted ones first, with the task at their head. Idle ones only if they are asked for.
select l.queue, l.lane, l.state, l.head_id, t.command, t.state as head_state, l.halted_at,
       case when l.state = 'halted' then t.error end as error
  from (select l.*
          from worker.lanes as l
         where (%(queue)s::text is null or l.queue = %(queue)s)
           and (%(state)s::text is null and l.state <> 'idle' or l.state = %(state)s)
         order by l.state <> 'halted', l.queue, l.lane
         limit %(limit)s::bigint) as l
  left join worker.tasks as t on t.id = l.head_id
 order by l.state <> 'halted', l.queue, l.lane
