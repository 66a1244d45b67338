-- task_why: why a task waits.
select c.kind, c.is_blocking, c.evidence, c.words, c.remedy
  from worker.explain(%(id)s::bigint) as c
