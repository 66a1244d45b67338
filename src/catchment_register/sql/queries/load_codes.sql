-- Rows of a code list: new ones are added, known ones are corrected and enabled. Names in braces are filled in by
-- codes.load.
with written as (
  insert into {table} as t ({columns})
  select {columns}
    from jsonb_populate_recordset(null::{table}, %(rows)s) as g
  on conflict ({key}) do update
     set ({columns}, enabled) = row({excluded}, true)
   where ({stored}, t.enabled) is distinct from ({excluded}, true)
  returning (xmax = 0) as is_new
)
select count(*) filter (where w.is_new) as added, count(*) filter (where not w.is_new) as changed from written as w
