select r.row_no, p.problem, p.column, p.message, array_to_string(r.ident, ' ') as ident, r.name
  from register.import_row as r
 cross join lateral (
   select 'error' as problem, e.key as column, e.value as message from jsonb_each_text(r.errors) as e
   union all
   select 'warning', w.key, w.value from jsonb_each_text(r.warnings) as w) as p
 where r.job_id = %(job_id)s
   and (r.errors is not null or r.warnings is not null)
 order by r.row_no, p.problem, p.column
 limit %(limit)s
