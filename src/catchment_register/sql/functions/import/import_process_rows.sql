-- import_process_rows: bring the units from p_first to p_last of a batch into the register, parents before children.
--
--   locks   establishments, then legal units, by id
--   raises  what the guards and constraints raise
create or replace function register.import_process_rows(
  p_job_id     integer,
  p_batch_seq  integer,
  p_first      integer,
  p_last       integer
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_job       register.import_job;
  v_args      jsonb;
  v_kind      text;
  v_mode      text;
  v_is_new    boolean;
  v_is_single boolean;
  v_is_mine   boolean;
  v_has       jsonb;
begin
  select j.* into v_job from register.import_job as j where j.id = p_job_id;
  -- Details that no row has need no statement, which would read all rows once more.
  select coalesce(bool_and(d.is_new), false), count(*) = count(distinct d.unit_id),
         jsonb_build_object(
           'secondary', bool_or(d.secondary_activity_category_id is not null),
           'postal', bool_or(num_nonnulls(d.postal_address_part1, d.postal_address_part2, d.postal_address_part3,
                                          d.postal_postcode, d.postal_postplace, d.postal_region_id,
                                          d.postal_country_id) > 0),
           'contact', bool_or(num_nonnulls(d.web_address, d.email_address, d.phone_number, d.landline, d.mobile_number,
                                           d.fax_number) > 0),
           'tag', bool_or(d.tag_id is not null))
    into v_is_new, v_is_single, v_has
    from register.import_data as d
   where d.job_id = p_job_id and d.batch_seq = p_batch_seq and not d.has_error;
  v_args := jsonb_build_object('job_id', p_job_id, 'batch_seq', p_batch_seq, 'first', p_first, 'last', p_last,
                               'edit_by', v_job.created_by, 'note', v_job.note,
                               'country_id', v_job.snapshot -> 'country_id',
                               'types', to_jsonb(register.ident_type_ids(p_job_id)), 'is_new', v_is_new,
                               'is_single', v_is_single, 'has', v_has);
  v_mode := case when v_job.snapshot ->> 'strategy' in ('insert_or_update', 'update_only') then 'update'
                 else 'replace' end;
  v_kind := v_job.snapshot ->> 'mode';
  -- New units are ours alone until we commit.
  perform register.lock_units(
    array(select distinct case v_kind when 'legal_unit' then d.unit_id else d.owner_id end
            from register.import_data as d
           where d.job_id = p_job_id and d.batch_seq = p_batch_seq and v_kind <> 'establishment_formal'
             and (v_kind <> 'legal_unit' or not d.is_new)),
    array(select distinct d.unit_id
            from register.import_data as d
           where d.job_id = p_job_id and d.batch_seq = p_batch_seq and v_kind <> 'legal_unit' and not d.is_new));
  if v_kind = 'legal_unit' then
    perform register.process_legal_units(v_mode, v_args);
  elsif v_kind in ('establishment_formal', 'establishment_informal') then
    perform register.process_establishments(v_mode, v_args);
  end if;
  -- New units have just been noted as changed: what they own need not say so once more.
  if v_is_new then
    v_is_mine := register.pause_capture();
  end if;
  case v_kind
    when 'legal_unit' then
      perform register.process_details('legal_unit_id', v_mode, v_args);
      perform register.process_statistics('legal_unit_id', 'unit_id', v_mode, v_args);
    when 'establishment_formal', 'establishment_informal' then
      perform register.process_details('establishment_id', v_mode, v_args);
      perform register.process_statistics('establishment_id', 'unit_id', v_mode, v_args);
    when 'generic_unit' then
      perform register.process_statistics('legal_unit_id', 'owner_id', v_mode, v_args);
      perform register.process_statistics('establishment_id', 'unit_id', v_mode, v_args);
    when 'legal_relationship' then
      perform register.process_relationships(v_mode, v_args);
  end case;
  perform register.resume_capture(v_is_mine);
end;
$$;
