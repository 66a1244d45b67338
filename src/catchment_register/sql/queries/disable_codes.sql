-- Rows of a code list that are not among the given ones are disabled. Names in braces are filled in by codes.load.
update {table} as t
   set enabled = false
 where t.enabled
   and {scope}
   and not exists (select from jsonb_populate_recordset(null::{table}, %(rows)s) as g where ({given}) = ({stored}))
