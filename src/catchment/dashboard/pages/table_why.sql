-- table_why: why a dynamic table is late.
select c.kind, c.is_blocking, c.evidence, c.words, c.remedy
  from lake.explain_table(%(id)s::bigint, make_interval(secs => %(target)s::float8), %(chain)s::float8,
                          worker.now()) as c
