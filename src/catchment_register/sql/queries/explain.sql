-- Why the register, a report or a unit is not up to date.
select c.kind, c.is_blocking, c.evidence, c.words, c.remedy from register.explain(%(of)s::text) as c;
