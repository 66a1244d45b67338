-- process_relationships: write influence from rows of a batch. Power groups follow with the next derivation.
create or replace function register.process_relationships(
  p_mode  text,
  p_args  jsonb
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  perform register.temporal_merge('legal_relationship', 'influencing_id', p_mode,
    'select d.row_no, d.owner_id as influencing_id, d.other_id as influenced_id, d.rel_type_id as type_id, d.valid_from,
            d.valid_until, d.percentage::numeric(5, 2) as percentage, d.data_source_id, x.edit_at, x.edit_by,
            coalesce(d.edit_comment, x.note) as edit_comment
       from ' || register.batch_rows_text(), p_args);
end;
$$;
