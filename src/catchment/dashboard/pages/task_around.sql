-- task_around: the trace of a task, its children in numbers, its neighbours in its lane, and its follow-ups.
select s.trace, s.children, s.lane, s.follow_ups
  from worker.surroundings_of(%(id)s::bigint) as s
