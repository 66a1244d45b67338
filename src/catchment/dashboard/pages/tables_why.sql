-- tables_why: of some tables, what holds each back first.
select t.id, c.kind, c.evidence, c.words, c.remedy
  from unnest(%(ids)s::bigint[], %(targets)s::float8[], %(chains)s::float8[]) as t (id, target, chain_ms)
 cross join lateral (select x.*
                       from lake.explain_table(t.id, make_interval(secs => t.target), t.chain_ms, worker.now())
                              with ordinality as x
                      where x.is_blocking
                      order by x.ordinality
                      limit 1) as c
