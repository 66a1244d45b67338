-- scope_groups: the children of a task by command, state and when they settled.
select g.command, g.state, g.bin, g.tasks, g.median, g.slow
  from worker.scope_groups(%(id)s::bigint, %(start)s::timestamptz, %(end)s::timestamptz, %(bins)s::integer,
                           %(most)s::integer) as g
