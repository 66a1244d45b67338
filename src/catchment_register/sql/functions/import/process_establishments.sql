-- process_establishments: write slices of establishments from rows of a batch. A formal one belongs to the legal unit
-- of its row, and other establishments lose the primary flag where it is the primary one; an informal one stays in its
-- enterprise, a new one gets its own.
create or replace function register.process_establishments(
  p_mode  text,
  p_args  jsonb
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_formal boolean := (select j.snapshot ->> 'mode' = 'establishment_formal' from register.import_job as j
                        where j.id = (p_args ->> 'job_id')::integer);
begin
  if v_formal then
    if not (p_args ->> 'is_new')::boolean then
      perform register.note_left_owners(p_args);
    end if;
    perform register.demote_establishments(p_args);
  else
    perform register.found_enterprises(p_args);
  end if;
  perform register.temporal_merge('establishment', 'id', p_mode,
    format(
      'select d.row_no, d.unit_id as id, d.valid_from, d.valid_until, d.name, d.short_name, d.birth_date, d.death_date,
              d.sector_id, d.status_id, d.unit_size_id, d.data_source_id, null::integer as foreign_participation_id,
              null::integer as image_id, d.owner_id as legal_unit_id, d.enterprise_id,
              case when d.owner_id is not null then d.is_primary end
              as primary_for_legal_unit, %s as primary_for_enterprise, x.edit_at, x.edit_by,
              coalesce(d.edit_comment, x.note) as edit_comment
         from ', case when v_formal then 'null::boolean' else 'true' end) || register.batch_rows_text(),
    p_args,
    case when v_formal then '{foreign_participation_id,image_id}'
         else '{foreign_participation_id,image_id,enterprise_id,primary_for_enterprise}' end::text[],
    p_is_new => (p_args ->> 'is_new')::boolean);
  if not v_formal then
    perform register.fill_primaries('establishment', p_args);
  end if;
end;
$$;
