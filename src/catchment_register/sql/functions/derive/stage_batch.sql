-- stage_batch: write the rows of a batch that are to be published, and note with the round what has been derived, also units that
-- came to have no row. Every row has a source that describes it: an establishment and a legal unit themselves, an enterprise and a
-- power group one of their parts. p_with_own: whether establishments and legal units are staged too.
create or replace function register.stage_batch(
  p_round      register.round,
  p_batch_seq  integer,
  p_with_own   boolean
)
  returns integer
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set jit = off
  set enable_nestloop = off
  set enable_mergejoin = off
  set work_mem = '128MB'
as $$
declare
  v_is_all         boolean := p_round.kind = 'all';
  -- Put together anew, so that a stored value is fetched and unpacked once and not for each row.
  v_establishments int4multirange := p_round.effective_establishment_ids + '{}'::int4multirange;
  v_legal_units    int4multirange := p_round.effective_legal_unit_ids + '{}'::int4multirange;
  v_enterprises    int4multirange := p_round.effective_enterprise_ids + '{}'::int4multirange;
  v_groups         int4multirange := p_round.effective_power_group_ids + '{}'::int4multirange;
  v_rows           integer;
begin
  insert into register.statistical_unit_staging
  select p_round.id, p_batch_seq, r.unit_type, r.unit_id, r.valid_from, r.valid_until,
         coalesce(r.next_from, 'infinity'), r.unit_rows = 1,
         coalesce(r.name, o.name), o.birth_date, o.death_date, o.primary_activity_category_id, o.secondary_activity_category_id,
         o.sector_id, o.legal_form_id, o.unit_size_id, o.status_id, r.used_for_counting, o.data_source_ids,
         o.physical_address_part1, o.physical_address_part2, o.physical_address_part3, o.physical_postcode, o.physical_postplace,
         o.physical_region_id, o.physical_country_id, o.physical_latitude, o.physical_longitude, o.physical_altitude,
         o.postal_address_part1, o.postal_address_part2, o.postal_address_part3, o.postal_postcode, o.postal_postplace,
         o.postal_region_id, o.postal_country_id, o.web_address, o.email_address, o.phone_number, o.landline, o.mobile_number,
         o.fax_number, greatest(o.last_edit_at, r.edit_at),
         case when r.edit_at > o.last_edit_at or o.last_edit_at is null then r.edit_by else o.last_edit_by end,
         case when r.edit_at > o.last_edit_at or o.last_edit_at is null then r.edit_comment else o.last_edit_comment end,
         coalesce(r.unit_type = 'legal_unit' or o.legal_unit_id is not null or l.related_legal_unit_ids is not null, false),
         r.primary_legal_unit_id, r.primary_establishment_id,
         case r.unit_type when 'establishment' then array[r.unit_id] else l.related_establishment_ids end,
         l.excluded_establishment_ids,
         case when r.unit_type <> 'establishment' then l.included_establishment_ids
              when r.used_for_counting then array[r.unit_id] end,
         case when r.unit_type = 'legal_unit' then array[r.unit_id]
              when r.unit_type <> 'establishment' then l.related_legal_unit_ids
              when o.legal_unit_id is not null then array[o.legal_unit_id] end,
         l.excluded_legal_unit_ids,
         case when r.unit_type <> 'legal_unit' then l.included_legal_unit_ids when r.used_for_counting then array[r.unit_id] end,
         case when r.unit_type = 'enterprise' then array[r.unit_id]
              when r.unit_type = 'power_group' then l.related_enterprise_ids
              when o.enterprise_id is not null then array[o.enterprise_id] end,
         null,
         case when r.unit_type = 'power_group' then l.included_enterprise_ids
              when r.unit_type = 'enterprise' and r.used_for_counting then array[r.unit_id] end,
         case when r.unit_type in ('establishment', 'legal_unit') then o.stat_values end, m.moments, v.value_counts,
         register.facet_slot(r.unit_type, o.primary_activity_category_id, o.secondary_activity_category_id, o.sector_id,
                             o.legal_form_id, o.physical_region_id, o.physical_country_id, o.unit_size_id, o.status_id)
    from (select x.*, lead(x.valid_from) over w as next_from, count(*) over (partition by x.unit_type, x.unit_id) as unit_rows
            from (select b.unit_type, b.unit_id, b.valid_from, b.valid_until, b.unit_type as source_type, b.unit_id as source_id,
                         b.valid_from as source_from, null as name, b.used_for_counting, null::integer as primary_legal_unit_id,
                         null::integer as primary_establishment_id, null::timestamptz as edit_at, null as edit_by,
                         null as edit_comment
                    from pg_temp.b_own as b
                   where p_with_own
                  union all
                  select b.unit_type, b.unit_id, b.valid_from, b.valid_until, b.source_type, b.source_id, b.source_from, b.name,
                         b.used_for_counting, b.primary_legal_unit_id, b.primary_establishment_id, b.edit_at, b.edit_by,
                         b.edit_comment
                    from pg_temp.b_row as b) as x
           where v_is_all
              or x.unit_id <@ case x.unit_type when 'establishment' then v_establishments when 'legal_unit' then v_legal_units
                                               when 'enterprise' then v_enterprises else v_groups end
          window w as (partition by x.unit_type, x.unit_id order by x.valid_from)) as r
    left join pg_temp.b_own as o on o.unit_type = r.source_type and o.unit_id = r.source_id and o.valid_from = r.source_from
    left join (
      select p.unit_type, p.unit_id, p.valid_from,
             array_agg(p.part_id order by p.part_id) filter (where p.part_type = 'establishment') as related_establishment_ids,
             array_agg(p.part_id order by p.part_id) filter (where p.part_type = 'establishment' and not p.counts)
               as excluded_establishment_ids,
             array_agg(p.part_id order by p.part_id) filter (where p.part_type = 'establishment' and p.counts)
               as included_establishment_ids,
             array_agg(p.part_id order by p.part_id) filter (where p.part_type = 'legal_unit') as related_legal_unit_ids,
             array_agg(p.part_id order by p.part_id) filter (where p.part_type = 'legal_unit' and not p.counts)
               as excluded_legal_unit_ids,
             array_agg(p.part_id order by p.part_id) filter (where p.part_type = 'legal_unit' and p.counts)
               as included_legal_unit_ids,
             array_agg(distinct p.enterprise_id order by p.enterprise_id) filter (where p.enterprise_id is not null)
               as related_enterprise_ids,
             array_agg(distinct p.enterprise_id order by p.enterprise_id) filter (where p.enterprise_id is not null and p.counts)
               as included_enterprise_ids
        from pg_temp.b_part as p
       group by p.unit_type, p.unit_id, p.valid_from
    ) as l on l.unit_type = r.unit_type and l.unit_id = r.unit_id and l.valid_from = r.valid_from
    left join (
      select b.unit_type, b.unit_id, b.valid_from,
             array_agg((b.stat_definition_id, b.n, b.total, b.squares, b.least, null, b.most, null)::register.moment
                       order by b.stat_definition_id) as moments
        from pg_temp.b_moment as b
       where b.word is null
       group by b.unit_type, b.unit_id, b.valid_from
    ) as m on m.unit_type = r.unit_type and m.unit_id = r.unit_id and m.valid_from = r.valid_from
    left join (
      select g.unit_type, g.unit_id, g.valid_from, jsonb_object_agg(g.stat_definition_id, g.words) as value_counts
        from (select b.unit_type, b.unit_id, b.valid_from, b.stat_definition_id, jsonb_object_agg(b.word, b.n) as words
                from pg_temp.b_moment as b
               where b.word is not null
               group by b.unit_type, b.unit_id, b.valid_from, b.stat_definition_id) as g
       group by g.unit_type, g.unit_id, g.valid_from
    ) as v on v.unit_type = r.unit_type and v.unit_id = r.unit_id and v.valid_from = r.valid_from;
  get diagnostics v_rows = row_count;
  return v_rows;
end;
$$;
