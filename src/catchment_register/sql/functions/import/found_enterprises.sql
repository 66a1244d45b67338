-- found_enterprises: an enterprise for each new unit of the rows; its number was drawn when the rows were linked.
create or replace function register.found_enterprises(p_args jsonb)
  returns void
  language sql set search_path = pg_catalog, pg_temp
as $$
  insert into register.enterprise (id, edit_by, edit_comment)
  select distinct on (d.enterprise_id) d.enterprise_id, p_args ->> 'edit_by',
         coalesce(d.edit_comment, p_args ->> 'note')
    from register.import_data as d
   where d.job_id = (p_args ->> 'job_id')::integer
     and d.batch_seq = (p_args ->> 'batch_seq')::integer
     and not d.has_error
     and d.is_new
     and d.enterprise_id is not null
     and d.unit_id between (p_args ->> 'first')::integer and (p_args ->> 'last')::integer
   order by d.enterprise_id, d.row_no;
$$;
