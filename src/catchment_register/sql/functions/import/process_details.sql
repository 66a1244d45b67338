-- process_details: identifiers, activities, locations, contacts and tags from rows of a batch. What a row has no data
-- for is left alone; what no row has data for is not looked at.
create or replace function register.process_details(
  p_owner  text,
  p_mode   text,
  p_args   jsonb
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_new boolean := (p_args ->> 'is_new')::boolean;
  v_has    jsonb := p_args -> 'has';
  v_about  text := format(', d.unit_id as %I, d.valid_from, d.valid_until, d.data_source_id, x.edit_at, x.edit_by,
                           coalesce(d.edit_comment, x.note) as edit_comment from ', p_owner);
begin
  perform register.process_idents(p_owner, p_args);
  perform register.temporal_merge('activity', p_owner, p_mode,
    'select s.* from (select d.row_no, ''primary'' as type, d.primary_activity_category_id as category_id'
    || v_about || register.batch_rows_text()
    || case when (v_has ->> 'secondary')::boolean
            then 'union all select d.row_no, ''secondary'', d.secondary_activity_category_id' || v_about
                 || register.batch_rows_text() else '' end
    || ') as s where s.category_id is not null', p_args, p_is_new => v_is_new);
  perform register.temporal_merge('location', p_owner, p_mode,
    'select s.row_no, s.type, s.address_part1, s.address_part2, s.address_part3, s.postcode, s.postplace, s.region_id,
            s.latitude, s.longitude, s.altitude, s.valid_from, s.valid_until, s.data_source_id, s.edit_at, s.edit_by,
            s.edit_comment, '
    || format('s.%1$I, coalesce(s.country_id, (select max(o.country_id) from register.location as o
                                                where o.%1$I = s.%1$I and %2$s and o.type = s.type
                                                  and o.valid_from < s.valid_until and s.valid_from < o.valid_until),
                                ($1 ->> ''country_id'')::integer) as country_id', p_owner,
              case p_owner when 'legal_unit_id' then 'o.establishment_id is null' else 'o.legal_unit_id is null' end)
    || ' from (select d.row_no, ''physical'' as type, d.physical_address_part1 as address_part1,
                      d.physical_address_part2 as address_part2, d.physical_address_part3 as address_part3,
                      d.physical_postcode as postcode, d.physical_postplace as postplace,
                      d.physical_region_id as region_id, d.physical_country_id as country_id,
                      d.physical_latitude as latitude, d.physical_longitude as longitude,
                      d.physical_altitude as altitude' || v_about || register.batch_rows_text()
    || case when (v_has ->> 'postal')::boolean
            then ' union all select d.row_no, ''postal'', d.postal_address_part1, d.postal_address_part2,
                                    d.postal_address_part3, d.postal_postcode, d.postal_postplace, d.postal_region_id,
                                    d.postal_country_id, null, null, null'
                 || v_about || register.batch_rows_text() else '' end
    || ') as s where num_nonnulls(s.address_part1, s.address_part2, s.address_part3, s.postcode, s.postplace,
                                  s.region_id, s.country_id, s.latitude, s.longitude, s.altitude) > 0', p_args,
    p_is_new => v_is_new);
  if (v_has ->> 'contact')::boolean then
    perform register.temporal_merge('contact', p_owner, p_mode,
      'select d.row_no, d.web_address, d.email_address, d.phone_number, d.landline, d.mobile_number, d.fax_number'
      || v_about || register.batch_rows_text()
      || 'and num_nonnulls(d.web_address, d.email_address, d.phone_number, d.landline, d.mobile_number, d.fax_number)'
      || ' > 0',
      p_args, p_is_new => v_is_new);
  end if;
  if (v_has ->> 'tag')::boolean then
    perform register.process_tags(p_owner, p_args);
  end if;
end;
$$;
