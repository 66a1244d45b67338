-- process_statistics: values of statistics from rows of a batch. p_column: where the rows have the number of the owner.
create or replace function register.process_statistics(
  p_owner   text,
  p_column  text,
  p_mode    text,
  p_args    jsonb
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  perform register.temporal_merge('stat_for_unit', p_owner, p_mode,
    format(
      'select s.row_no, s.unit_id as %I, t.id as stat_definition_id, s.valid_from, s.valid_until,
              case t.type when ''int'' then (s.stat_value ->> t.key)::bigint end as value_int,
              case t.type when ''float'' then (s.stat_value ->> t.key)::double precision end as value_float,
              case t.type when ''string'' then s.stat_value ->> t.key end as value_string,
              case t.type when ''bool'' then (s.stat_value ->> t.key)::boolean end as value_bool,
              s.data_source_id, s.edit_at, s.edit_by, s.edit_comment
         from (select d.id, d.type, d.id::text as key from register.stat_definition as d offset 0) as t
         join (select d.row_no, d.%I as unit_id, d.valid_from, d.valid_until, d.stat_value, d.data_source_id, x.edit_at,
                      x.edit_by, coalesce(d.edit_comment, x.note) as edit_comment
                 from ', p_owner, p_column)
    || register.batch_rows_text()
    || 'and d.stat_value is not null) as s on s.stat_value ? t.key
        where s.unit_id is not null', p_args, p_is_new => (p_args ->> 'is_new')::boolean);
end;
$$;
