-- stated_values: the statistics that some rows of a job state, by the id of the variable, and by its code what is
-- wrong: rows as in coded_rows, variables in the order of the job's snapshot. Inlined, therefore without a SET clause.
create or replace function register.stated_values(
  p_job_id       integer,
  p_first        integer,
  p_last         integer,
  p_rows         integer[],
  p_definitions  jsonb
)
  returns table (row_no integer, "values" jsonb, wrong jsonb)
  language sql stable
as $$
  with definition as materialized (
    select d.n, (d.value ->> 'id')::integer as id, d.value ->> 'code' as code, d.value ->> 'type' as type
      from jsonb_array_elements(p_definitions) with ordinality as d (value, n)
  ),
  -- Each value is parsed once.
  parsed as materialized (
    select t.row_no, d.id, d.code, d.type, t.text, register.parse_stat(d.type, t.text) as value
      from definition as d
     cross join lateral (
       select u.row_no, u.stat[d.n] as text
         from register.import_upload as u
        where u.job_id = p_job_id
          and u.row_no between p_first and p_last
          and (p_rows is null or u.row_no = any (p_rows))
          and u.stat[d.n] is not null
     ) as t
  )
  select p.row_no, jsonb_object_agg(p.id, p.value) filter (where p.value is not null),
         jsonb_object_agg(p.code, format('%s is not a value of type %s', p.text, p.type)) filter (where p.value is null)
    from parsed as p
   group by p.row_no;
$$;
