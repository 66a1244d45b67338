-- own_rows: the own data of establishments and legal units, for each of their segments. A detail that is valid in a
-- segment is valid in all of it. The last edit is the latest of the unit and its details, in this order where they are
-- the same.
--
--   reads   pg_temp.b_activity, pg_temp.b_contact, pg_temp.b_location, pg_temp.b_segment, pg_temp.b_slice,
--           pg_temp.b_stat
--   writes  pg_temp.b_own
--   plan    no_jit, generic, hashed, as_written, memory_128
create or replace function register.own_rows()
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into pg_temp.b_own
  select s.unit_type, s.unit_id, s.valid_from, s.valid_until, s.next_from, s.is_only, u.legal_unit_id, u.enterprise_id,
         u.is_primary, u.name, u.birth_date, u.death_date, pa.category_id, sa.category_id, u.sector_id, u.legal_form_id,
         u.unit_size_id, u.status_id, t.used_for_counting,
         -- Nearly always one source: then nothing need be sorted.
         case when e.first_source = e.last_source then array[e.first_source]
              when e.first_source < e.last_source then
           array(select distinct d.id
                   from unnest(array[u.data_source_id, pa.data_source_id, sa.data_source_id, ph.data_source_id,
                                     po.data_source_id]
                               || v.data_source_ids) as d (id)
                  where d.id is not null
                  order by d.id)
         end,
         ph.address_part1, ph.address_part2, ph.address_part3, ph.postcode, ph.postplace, ph.region_id, ph.country_id,
         ph.latitude, ph.longitude, ph.altitude, po.address_part1, po.address_part2, po.address_part3, po.postcode,
         po.postplace, po.region_id, po.country_id, c.web_address, c.email_address, c.phone_number, c.landline,
         c.mobile_number, c.fax_number, e.at,
         case e.at when u.edit_at then u.edit_by when pa.edit_at then pa.edit_by when sa.edit_at then sa.edit_by
                   when ph.edit_at then ph.edit_by when po.edit_at then po.edit_by when c.edit_at then c.edit_by
                   else v.edit_by end,
         case e.at when u.edit_at then u.edit_comment when pa.edit_at then pa.edit_comment
              when sa.edit_at then sa.edit_comment
                   when ph.edit_at then ph.edit_comment when po.edit_at then po.edit_comment
                   when c.edit_at then c.edit_comment
                   else v.edit_comment end,
         v.stat_values
    from pg_temp.b_segment as s
    join pg_temp.b_slice as u
      on u.unit_type = s.unit_type and u.unit_id = s.unit_id and u.valid_from <= s.valid_from
     and s.valid_until <= u.valid_until
    join register.status as t on t.id = u.status_id
    left join pg_temp.b_activity as pa
      on pa.unit_type = s.unit_type and pa.unit_id = s.unit_id and pa.type = 'primary'
     and pa.valid_from <= s.valid_from and s.valid_until <= pa.valid_until
    left join pg_temp.b_activity as sa
      on sa.unit_type = s.unit_type and sa.unit_id = s.unit_id and sa.type = 'secondary'
     and sa.valid_from <= s.valid_from and s.valid_until <= sa.valid_until
    left join pg_temp.b_location as ph
      on ph.unit_type = s.unit_type and ph.unit_id = s.unit_id and ph.type = 'physical'
     and ph.valid_from <= s.valid_from and s.valid_until <= ph.valid_until
    left join pg_temp.b_location as po
      on po.unit_type = s.unit_type and po.unit_id = s.unit_id and po.type = 'postal'
     and po.valid_from <= s.valid_from and s.valid_until <= po.valid_until
    left join pg_temp.b_contact as c
      on c.unit_type = s.unit_type and c.unit_id = s.unit_id
     and c.valid_from <= s.valid_from and s.valid_until <= c.valid_until
    left join (
      select g.unit_type, g.unit_id, g.valid_from, jsonb_object_agg(d.stat_definition_id, d.shown) as stat_values,
             array_agg(d.data_source_id) as data_source_ids, min(d.data_source_id) as first_source,
             max(d.data_source_id) as last_source, max(d.edit_at) as edit_at,
             (array_agg(d.edit_by order by d.edit_at desc, d.stat_definition_id))[1] as edit_by,
             (array_agg(d.edit_comment order by d.edit_at desc, d.stat_definition_id))[1] as edit_comment
        from pg_temp.b_segment as g
        join pg_temp.b_stat as d on d.unit_type = g.unit_type and d.unit_id = g.unit_id
                                and d.valid_from <= g.valid_from and g.valid_until <= d.valid_until
       group by g.unit_id, g.valid_from, g.unit_type
    ) as v on v.unit_type = s.unit_type and v.unit_id = s.unit_id and v.valid_from = s.valid_from
   cross join lateral (
      select greatest(u.edit_at, pa.edit_at, sa.edit_at, ph.edit_at, po.edit_at, c.edit_at, v.edit_at) as at,
             least(u.data_source_id, pa.data_source_id, sa.data_source_id, ph.data_source_id, po.data_source_id,
                   v.first_source)
               as first_source,
             greatest(u.data_source_id, pa.data_source_id, sa.data_source_id, ph.data_source_id, po.data_source_id,
                      v.last_source)
               as last_source
    ) as e;
end;
$$;
