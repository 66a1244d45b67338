-- Why a dynamic table is late.
select d.schema_name || '.' || d.name as name, c.kind, c.is_blocking, c.evidence, c.words, c.remedy
  from lake.dt as d
 cross join lateral lake.explain(d.id) as c
 where d.id = %(id)s
