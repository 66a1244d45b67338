-- batch_rows_text: the rows to process and who is noted as their editor: FROM and WHERE of a SELECT over $1, the
-- arguments that import_process_rows makes.
create or replace function register.batch_rows_text()
  returns text
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select $sql$
    register.import_data as d
    cross join (select clock_timestamp() as edit_at, $1 ->> 'edit_by' as edit_by, $1 ->> 'note' as note offset 0) as x
    where d.job_id = ($1 ->> 'job_id')::integer
      and d.batch_seq = ($1 ->> 'batch_seq')::integer
      and not d.has_error
      and coalesce(d.other_id, d.unit_id, d.owner_id) between ($1 ->> 'first')::integer and ($1 ->> 'last')::integer
  $sql$;
$$;
