-- process_legal_units: write slices of legal units from rows of a batch, and enterprises for the new ones. A unit stays
-- in its enterprise, and primary if it was, because rows have no data about that. It becomes primary where it gets time
-- in which its enterprise has no primary unit.
create or replace function register.process_legal_units(
  p_mode  text,
  p_args  jsonb
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  perform register.found_enterprises(p_args);
  perform register.temporal_merge('legal_unit', 'id', p_mode,
    'select d.row_no, d.unit_id as id, d.valid_from, d.valid_until, d.name, d.short_name, d.birth_date, d.death_date,
            d.sector_id, d.status_id, d.legal_form_id, d.unit_size_id, d.data_source_id,
            null::integer as foreign_participation_id, null::integer as image_id, d.enterprise_id,
            true as primary_for_enterprise, x.edit_at, x.edit_by, coalesce(d.edit_comment, x.note) as edit_comment
       from ' || register.batch_rows_text(),
    p_args, '{foreign_participation_id,image_id,enterprise_id,primary_for_enterprise}',
    p_is_new => (p_args ->> 'is_new')::boolean);
  perform register.fill_primaries('legal_unit', p_args);
end;
$$;
