-- ident_type_ids: the identifier types of a job, in the order of its arrays of identifiers.
create or replace function register.ident_type_ids(p_job_id integer)
  returns integer[]
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select array_agg((t.value ->> 'id')::integer order by t.n)
    from register.import_job as j
   cross join lateral jsonb_array_elements(j.snapshot -> 'ident_types') with ordinality as t (value, n)
   where j.id = p_job_id;
$$;
