-- process_statistics: values of statistics from rows of a batch. p_column: where the rows have the number of the owner.
create or replace function register.process_statistics(
  p_owner   text,
  p_column  text,
  p_mode    text,
  p_args    jsonb
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform register.temporal_merge('stat_for_unit', p_owner, p_mode,
    format(
      'select s.row_no, s.unit_id as %I, t.id as stat_definition_id, s.valid_from, s.valid_until,
              case t.type when ''int'' then (v.value #>> ''{}'')::bigint end as value_int,
              case t.type when ''float'' then (v.value #>> ''{}'')::double precision end as value_float,
              case t.type when ''string'' then v.value #>> ''{}'' end as value_string,
              case t.type when ''bool'' then (v.value #>> ''{}'')::boolean end as value_bool,
              s.data_source_id, s.edit_at, s.edit_by, s.edit_comment
         from (select d.row_no, d.%I as unit_id, d.valid_from, d.valid_until, d.stat_value, d.data_source_id, x.edit_at, x.edit_by,
                      coalesce(d.edit_comment, x.note) as edit_comment
                 from ', p_owner, p_column)
    || register.batch_rows_text()
    || ') as s cross join lateral jsonb_each(s.stat_value) as v
        join register.stat_definition as t on t.id = v.key::integer
        where s.unit_id is not null', p_args);
end;
$$;
