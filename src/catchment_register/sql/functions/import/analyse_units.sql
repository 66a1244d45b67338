-- analyse_units: analyse the rows of a batch about units or their statistics. Codes come from coded_rows, statistics
-- from stated_values, the times that a row is held against from unit_cover and address_times. Each problem has a
-- separate column here, null if there is none; they become JSON only for rows that have some.
--
--   plan    no_jit, indexed, hashed, as_written, memory_64
create or replace function register.analyse_units(
  p_job_id     integer,
  p_batch_seq  integer
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_job     register.import_job;
  v_mode    text;
  v_updates boolean;
  v_units   boolean;
  v_cuts    boolean;
  v_home    integer;
  v_status  integer := (select s.id from register.status as s where s.assigned_by_default and s.enabled);
  v_paths   jsonb;
  v_rows    integer[];
  v_first   integer;
  v_last    integer;
begin
  select j.* into v_job from register.import_job as j where j.id = p_job_id;
  v_mode := v_job.snapshot ->> 'mode';
  v_updates := v_job.snapshot ->> 'strategy' in ('insert_or_update', 'update_only');
  v_units := v_mode <> 'generic_unit';
  v_cuts := (v_job.snapshot ->> 'truncates_text')::boolean;
  v_home := (v_job.snapshot ->> 'country_id')::integer;
  select jsonb_object_agg(t.n, t.value ->> 'code') into v_paths
    from jsonb_array_elements(v_job.snapshot -> 'ident_types') with ordinality as t (value, n)
   where t.value ->> 'shape' = 'hierarchical';

  -- Rows of the batch are sought by their numbers: the file may be a thousand times as long. Mostly they stand
  -- together, and a list of them would take the planner longer than the few rows between them are worth.
  select case when max(l.row_no) - min(l.row_no) >= 2 * count(*) then array_agg(l.row_no) end, min(l.row_no),
         max(l.row_no)
    into v_rows, v_first, v_last
    from register.import_link as l
   where l.job_id = p_job_id and l.batch_seq = p_batch_seq;

  insert into register.import_data (
    job_id, batch_seq, row_no, unit_id, enterprise_id, owner_id, other_id, founding_row_no, is_new, is_primary,
    operation, valid_from, valid_until, name, short_name, birth_date, death_date, sector_id, legal_form_id, status_id,
    unit_size_id, data_source_id, primary_activity_category_id, secondary_activity_category_id, physical_address_part1,
    physical_address_part2, physical_address_part3, physical_postcode, physical_postplace, physical_region_id,
    physical_country_id, physical_latitude, physical_longitude, physical_altitude, postal_address_part1,
    postal_address_part2, postal_address_part3, postal_postcode, postal_postplace, postal_region_id, postal_country_id,
    web_address, email_address, phone_number, landline, mobile_number, fax_number, ident, stat_value, tag_id,
    edit_comment, has_error, errors, warnings)
  with row as (
    select l.row_no, l.unit_id, l.enterprise_id, l.owner_id, l.other_id, l.founding_row_no, l.is_new, l.is_primary,
           l.valid_from, l.valid_until, l.problem,
           case when l.is_new then 'insert' when v_updates then 'update' else 'replace' end as operation,
           u.name, left(u.short_name, 16) as short_name, u.birth_day as birth_date, u.death_day as death_date,
           case when v_mode <> 'establishment_formal' then k.sector_id end as sector_id,
           case when v_mode = 'legal_unit' then k.legal_form_id end as legal_form_id,
           coalesce(k.status_id, case when h.is_whole then v_status end) as status_id, k.unit_size_id,
           coalesce(k.data_source_id, v_job.data_source_id) as data_source_id, k.primary_id, k.secondary_id,
           u.physical_address_part1, u.physical_address_part2, u.physical_address_part3, u.physical_postcode,
           u.physical_postplace, k.region_id as physical_region_id,
           coalesce(k.country_id, case when h.has_physical and h.is_whole then v_home end) as physical_country_id,
           register.parse_number(u.physical_latitude) as latitude,
           register.parse_number(u.physical_longitude) as longitude,
           register.parse_number(u.physical_altitude) as altitude, u.postal_address_part1, u.postal_address_part2,
           u.postal_address_part3, u.postal_postcode, u.postal_postplace, k.postal_region_id,
           coalesce(k.postal_country_id, case when h.has_postal and h.is_whole then v_home end) as postal_country_id,
           u.web_address, u.email_address, u.phone_number, u.landline, u.mobile_number, u.fax_number, u.ident,
           st.values as stats,
           k.tag_id, u.edit_comment,
           -- Errors.
           st.wrong as stat_error,
           case when v_paths is not null
                then (select jsonb_object_agg(p.value, format('%s is no path: labels with dots between them',
                                                              u.ident[p.key::integer]))
                        from jsonb_each_text(v_paths) as p
                       where not register.is_path(u.ident[p.key::integer])) end as path_error,
           case when not v_units then null
                when u.name is null and h.is_whole then 'a name is needed'
                else register.length_problem(u.name, 256) end as name_error,
           case when not v_cuts then register.length_problem(u.short_name, 16) end as short_name_error,
           case when u.birth_date is not null and isfinite(u.birth_day) is not true
                then format('%s is not a day', u.birth_date) end as birth_error,
           case when u.death_date is not null and isfinite(u.death_day) is not true
                then format('%s is not a day', u.death_date) end as death_error,
           case when u.death_day < u.birth_day
                then format('the death %s is before the birth %s', u.death_date, u.birth_date) end as order_error,
           case when u.physical_country_iso_2 is not null and k.country_id is null
                then format('%s is no country', u.physical_country_iso_2)
                when h.has_physical and k.country_id is null and v_home is null
                     and (pl.physical && daterange(l.valid_from, l.valid_until)) is not true
                then 'an address needs a country' end as country_error,
           case when u.postal_country_iso_2 is not null and k.postal_country_id is null
                then format('%s is no country', u.postal_country_iso_2)
                when h.has_postal and k.postal_country_id is null and v_home is null
                     and (pl.postal && daterange(l.valid_from, l.valid_until)) is not true
                then 'an address needs a country' end as postal_country_error,
           register.region_problem(u.physical_region_code, u.physical_country_iso_2, k.country_id, v_home)
             as region_error,
           register.region_problem(u.postal_region_code, u.postal_country_iso_2, k.postal_country_id, v_home)
             as postal_region_error,
           case when l.problem is null and (v_mode = 'establishment_formal' and l.owner_id is not null or not v_units)
                     and (c.first <= l.valid_from and l.valid_until <= c.until
                          and (c.times @> daterange(l.valid_from, l.valid_until)) is not false)
                         is not true
                then format('%s is not there from %s until %s',
                            case when v_units then 'the legal unit' else 'the unit' end, l.valid_from,
                            l.valid_until) end as cover_error,
           -- Warnings.
           case when length(u.short_name) > 16 and v_cuts
                then format('%s was cut to 16 characters', u.short_name) end as short_name_warning,
           coalesce(register.unknown_code('sector', u.sector_code, k.sector_id),
                    case when u.sector_code is not null and v_mode = 'establishment_formal'
                         then 'an establishment of a legal unit cannot have its own sector' end) as sector_warning,
           coalesce(register.unknown_code('legal form', u.legal_form_code, k.legal_form_id),
                    case when u.legal_form_code is not null and v_mode <> 'legal_unit'
                         then 'an establishment has no legal form' end) as form_warning,
           register.unknown_code('status', u.status_code, k.status_id) as status_warning,
           register.unknown_code('size', u.unit_size_code, k.unit_size_id) as size_warning,
           register.unknown_code('data source', u.data_source_code, k.data_source_id) as source_warning,
           register.unknown_code('activity', u.primary_activity_category_code, k.primary_id) as primary_warning,
           register.unknown_code('activity', u.secondary_activity_category_code, k.secondary_id) as secondary_warning,
           register.unknown_code('region', u.physical_region_code, k.region_id) as region_warning,
           register.unknown_code('region', u.postal_region_code, k.postal_region_id) as postal_region_warning,
           register.unknown_code('tag', u.tag_path, k.tag_id) as tag_warning,
           case when h.has_physical and h.is_whole and u.physical_country_iso_2 is null and v_home is not null
                then 'the home country was taken' end as country_warning,
           case when h.has_postal and h.is_whole and u.postal_country_iso_2 is null and v_home is not null
                then 'the home country was taken' end as postal_country_warning,
           register.coordinate_problem('latitude', u.physical_latitude) as latitude_warning,
           register.coordinate_problem('longitude', u.physical_longitude) as longitude_warning,
           register.coordinate_problem('altitude', u.physical_altitude) as altitude_warning
      from register.import_link as l
      join (select u.*, register.parse_date(u.birth_date) as birth_day, register.parse_date(u.death_date) as death_day
              from register.import_upload as u
             where u.job_id = p_job_id
               and u.row_no between v_first and v_last
               and (v_rows is null or u.row_no = any (v_rows))
            -- Each date is read once.
            offset 0) as u on u.row_no = l.row_no
     cross join lateral (
       select num_nonnulls(u.physical_address_part1, u.physical_address_part2, u.physical_address_part3,
                           u.physical_postcode, u.physical_postplace, u.physical_region_code, u.physical_country_iso_2,
                           u.physical_latitude, u.physical_longitude, u.physical_altitude) > 0 as has_physical,
              num_nonnulls(u.postal_address_part1, u.postal_address_part2, u.postal_address_part3, u.postal_postcode,
                           u.postal_postplace, u.postal_region_code, u.postal_country_iso_2) > 0 as has_postal,
              -- An update says only what it has a value for.
              l.is_new or not v_updates as is_whole) as h
      join register.coded_rows(p_job_id, v_first, v_last, v_rows) as k on k.row_no = l.row_no
      left join register.stated_values(p_job_id, v_first, v_last, v_rows, v_job.snapshot -> 'stat_definitions') as st
        on st.row_no = l.row_no
      left join register.unit_cover(p_job_id, p_batch_seq, v_mode) as c
        on c.kind = case when l.owner_id is null then 'establishment' else 'legal_unit' end
       and c.id = coalesce(l.owner_id, l.unit_id)
      left join register.address_times(p_job_id, p_batch_seq, v_mode, v_updates and v_home is null) as pl
        on pl.unit_id = l.unit_id and not l.is_new
     where l.job_id = p_job_id
       and l.batch_seq = p_batch_seq
    -- Each problem is found once, and nothing stored: these rows are wide.
    offset 0
  ),
  judged as (
    select r.*,
           -- A row that could not be read has nothing else to tell.
           case when r.problem ? '*' then r.problem
                when num_nonnulls(r.problem, r.name_error, r.short_name_error, r.birth_error, r.death_error,
                                  r.order_error, r.country_error,
                                  r.postal_country_error, r.region_error, r.postal_region_error, r.cover_error,
                                  r.stat_error, r.path_error) > 0
                then register.input_keys(
                       jsonb_strip_nulls(coalesce(r.stat_error, '{}') || coalesce(r.path_error, '{}')
                                         || jsonb_build_object(
                         'name', r.name_error, 'short_name', r.short_name_error,
                         'birth_date', coalesce(r.birth_error, r.order_error),
                         'death_date', coalesce(r.death_error, r.order_error), 'physical_country_iso_2',
                         coalesce(r.country_error, r.region_error), 'physical_region_code', r.region_error,
                         'postal_country_iso_2', coalesce(r.postal_country_error, r.postal_region_error),
                         'postal_region_code', r.postal_region_error)
                         || coalesce(register.period_problem(v_job.snapshot, r.cover_error), '{}')
                         || coalesce(r.problem, '{}')),
                       v_job.snapshot -> 'columns') end as errors,
           case when num_nonnulls(r.short_name_warning, r.sector_warning, r.form_warning, r.status_warning,
                                  r.size_warning, r.source_warning, r.primary_warning, r.secondary_warning,
                                  r.region_warning, r.postal_region_warning, r.country_warning,
                                  r.postal_country_warning, r.latitude_warning, r.longitude_warning, r.altitude_warning,
                                  r.tag_warning) > 0
                then register.input_keys(
                       jsonb_strip_nulls(jsonb_build_object(
                         'short_name', r.short_name_warning, 'sector_code', r.sector_warning,
                         'legal_form_code', r.form_warning, 'status_code', r.status_warning,
                         'unit_size_code', r.size_warning, 'data_source_code', r.source_warning,
                         'primary_activity_category_code', r.primary_warning,
                         'secondary_activity_category_code', r.secondary_warning,
                         'physical_region_code', r.region_warning, 'postal_region_code', r.postal_region_warning,
                         'physical_country_iso_2', r.country_warning, 'postal_country_iso_2', r.postal_country_warning,
                         'physical_latitude', r.latitude_warning, 'physical_longitude', r.longitude_warning,
                         'physical_altitude', r.altitude_warning, 'tag_path', r.tag_warning)),
                       v_job.snapshot -> 'columns') end as warnings
      from row as r
  )
  select p_job_id, p_batch_seq, j.row_no, j.unit_id, j.enterprise_id, j.owner_id, j.other_id, j.founding_row_no,
         j.is_new, j.is_primary, case when j.errors is null then j.operation else 'skip' end, j.valid_from,
         j.valid_until, j.name, j.short_name, j.birth_date, j.death_date, j.sector_id, j.legal_form_id, j.status_id,
         j.unit_size_id, j.data_source_id, j.primary_id, j.secondary_id, j.physical_address_part1,
         j.physical_address_part2, j.physical_address_part3, j.physical_postcode,
         j.physical_postplace, j.physical_region_id, j.physical_country_id,
         case when j.latitude_warning is null then j.latitude end,
         case when j.longitude_warning is null then j.longitude end,
         case when j.altitude_warning is null then j.altitude end, j.postal_address_part1, j.postal_address_part2,
         j.postal_address_part3, j.postal_postcode, j.postal_postplace, j.postal_region_id, j.postal_country_id,
         j.web_address, j.email_address, j.phone_number, j.landline, j.mobile_number, j.fax_number, j.ident, j.stats,
         j.tag_id, j.edit_comment, j.errors is not null, j.errors, j.warnings
    from judged as j;
end;
$$;
