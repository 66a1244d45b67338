-- batch_rows: the rows of a batch that are to be published. Every row has a source that describes it: an establishment
-- and a legal unit themselves, an enterprise and a power group one of their parts. p_with_own: establishments and legal
-- units, too; p_is_all: or only the given units. Inlined, therefore without a SET clause: rows go where they are
-- inserted without being copied once more.
--
--   reads   pg_temp.b_moment, pg_temp.b_own, pg_temp.b_part, pg_temp.b_row
create or replace function register.batch_rows(
  p_with_own           boolean,
  p_is_all             boolean,
  p_establishment_ids  int4multirange,
  p_legal_unit_ids     int4multirange,
  p_enterprise_ids     int4multirange,
  p_power_group_ids    int4multirange
)
  returns setof register.statistical_unit_row
  language sql stable
as $$
  select register.facet_slot(r.row_type, r.primary_activity_category_id, r.secondary_activity_category_id, r.sector_id,
                             r.legal_form_id, r.physical_region_id, r.physical_country_id, r.unit_size_id, r.status_id),
         r.row_is_only, r.row_counts, r.row_id, r.row_from, r.row_until, r.row_next, r.row_type, r.birth_date,
         r.death_date, r.primary_activity_category_id, r.secondary_activity_category_id, r.sector_id, r.legal_form_id,
         r.physical_region_id, r.physical_country_id, r.unit_size_id, r.status_id, l.moments, l.value_counts,
         coalesce(r.row_name, r.name), r.physical_address_part1, r.physical_address_part2, r.physical_address_part3,
         r.physical_postcode, r.physical_postplace, r.postal_region_id, r.postal_country_id, r.data_source_ids,
         coalesce(r.row_type = 'legal_unit' or r.legal_unit_id is not null or l.related_legal_unit_ids is not null,
                  false),
         r.primary_legal_unit_id, r.primary_establishment_id, greatest(r.last_edit_at, r.edit_at),
         r.physical_latitude, r.physical_longitude, r.physical_altitude,
         case r.row_type when 'establishment' then array[r.row_id] else l.related_establishment_ids end,
         l.excluded_establishment_ids,
         case when r.row_type <> 'establishment' then l.included_establishment_ids
              when r.row_counts then array[r.row_id] end,
         case when r.row_type = 'legal_unit' then array[r.row_id]
              when r.row_type <> 'establishment' then l.related_legal_unit_ids
              when r.legal_unit_id is not null then array[r.legal_unit_id] end,
         l.excluded_legal_unit_ids,
         case when r.row_type <> 'legal_unit' then l.included_legal_unit_ids when r.row_counts then array[r.row_id] end,
         case when r.row_type = 'enterprise' then array[r.row_id]
              when r.row_type = 'power_group' then
                nullif(array(select distinct e.id from unnest(l.related_enterprise_ids) as e (id) order by e.id), '{}')
              when r.enterprise_id is not null then array[r.enterprise_id] end,
         null::integer[],
         case when r.row_type = 'power_group' then
                nullif(array(select distinct e.id from unnest(l.included_enterprise_ids) as e (id) order by e.id), '{}')
              when r.row_type = 'enterprise' and r.row_counts then array[r.row_id] end,
         case when r.row_type in ('establishment', 'legal_unit') then r.stat_values end, r.postal_address_part1,
         r.postal_address_part2, r.postal_address_part3, r.postal_postcode, r.postal_postplace, r.web_address,
         r.email_address, r.phone_number, r.landline, r.mobile_number, r.fax_number,
         case when r.edit_at > r.last_edit_at or r.last_edit_at is null then r.edit_by else r.last_edit_by end,
         case when r.edit_at > r.last_edit_at or r.last_edit_at is null then r.edit_comment
              else r.last_edit_comment end
    from (select o.unit_type as row_type, o.unit_id as row_id, o.valid_from as row_from, o.valid_until as row_until,
                 o.next_from as row_next, o.is_only as row_is_only, null as row_name, o.used_for_counting as row_counts,
                 null::integer as primary_legal_unit_id, null::integer as primary_establishment_id,
                 null::timestamptz as edit_at, null as edit_by, null as edit_comment, o.*
            from pg_temp.b_own as o
           where p_with_own
          union all
          select b.unit_type, b.unit_id, b.valid_from, b.valid_until, coalesce(lead(b.valid_from) over w, 'infinity'),
                 lead(b.valid_from) over w is null and lag(b.valid_from) over w is null, b.name, b.used_for_counting,
                 b.primary_legal_unit_id, b.primary_establishment_id, b.edit_at, b.edit_by, b.edit_comment, o.*
            from pg_temp.b_row as b
            left join pg_temp.b_own as o
              on o.unit_type = b.source_type and o.unit_id = b.source_id and o.valid_from = b.source_from
          window w as (partition by b.unit_id, b.unit_type order by b.valid_from)) as r
    -- Put together before they meet the rows, which are wide. Grouped by numbers first: these are compared more cheaply
    -- than texts.
    left join (
      select *
        from (
          select p.unit_type, p.unit_id, p.valid_from,
                 array_agg(p.part_id order by p.part_id)
                 filter (where p.part_type = 'establishment') as related_establishment_ids,
                 array_agg(p.part_id order by p.part_id) filter (where p.part_type = 'establishment' and not p.counts)
                   as excluded_establishment_ids,
                 array_agg(p.part_id order by p.part_id) filter (where p.part_type = 'establishment' and p.counts)
                   as included_establishment_ids,
                 array_agg(p.part_id order by p.part_id)
                 filter (where p.part_type = 'legal_unit') as related_legal_unit_ids,
                 array_agg(p.part_id order by p.part_id) filter (where p.part_type = 'legal_unit' and not p.counts)
                   as excluded_legal_unit_ids,
                 array_agg(p.part_id order by p.part_id) filter (where p.part_type = 'legal_unit' and p.counts)
                   as included_legal_unit_ids,
                 array_agg(p.enterprise_id) filter (where p.enterprise_id is not null) as related_enterprise_ids,
                 array_agg(p.enterprise_id) filter (where p.enterprise_id is not null
                                                    and p.counts) as included_enterprise_ids
            from pg_temp.b_part as p
           group by p.unit_id, p.valid_from, p.unit_type
        ) as l
        full join (
          select b.unit_type, b.unit_id, b.valid_from,
                 array_agg((b.stat_definition_id, b.n, b.total, b.squares, b.least, null, b.most, null)::register.moment
                           order by b.stat_definition_id) as moments
            from pg_temp.b_moment as b
           where b.word is null
             and b.unit_type <> 'own'
           group by b.unit_id, b.valid_from, b.unit_type
        ) as m using (unit_type, unit_id, valid_from)
        full join (
          select g.unit_type, g.unit_id, g.valid_from, jsonb_object_agg(g.stat_definition_id, g.words) as value_counts
            from (select b.unit_type, b.unit_id, b.valid_from, b.stat_definition_id,
                         jsonb_object_agg(b.word, b.n) as words
                    from pg_temp.b_moment as b
                   where b.word is not null
                     and b.unit_type <> 'own'
                   group by b.unit_type, b.unit_id, b.valid_from, b.stat_definition_id) as g
           group by g.unit_type, g.unit_id, g.valid_from
        ) as v using (unit_type, unit_id, valid_from)
    ) as l on l.unit_type = r.row_type and l.unit_id = r.row_id and l.valid_from = r.row_from
   where p_is_all
      or r.row_id <@ case r.row_type when 'establishment' then p_establishment_ids
                                     when 'legal_unit' then p_legal_unit_ids
                                     when 'enterprise' then p_enterprise_ids else p_power_group_ids end;
$$;
