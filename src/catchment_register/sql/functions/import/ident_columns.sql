-- ident_columns: the identifier columns of a job that its file has, in the order of its types, null for one it has not.
-- p_prefix: of the legal unit (legal_unit_), or of one side of a relationship.
create or replace function register.ident_columns(
  p_job_id  integer,
  p_prefix  text
)
  returns text[]
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select array_agg(case when j.snapshot -> 'columns' = '{}'
                        or j.snapshot -> 'columns' ? (p_prefix || (t.value ->> 'code'))
                        then p_prefix || (t.value ->> 'code') end order by t.n)
    from register.import_job as j
   cross join lateral jsonb_array_elements(j.snapshot -> 'ident_types') with ordinality as t (value, n)
   where j.id = p_job_id;
$$;
