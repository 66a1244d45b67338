-- start_task: make a task, due after a number of seconds if there is one.
select worker.enqueue(%(command)s::text, %(payload)s::text::jsonb, %(priority)s::integer, %(lane)s::text,
                      worker.now() + make_interval(secs => %(delay)s::float8))
