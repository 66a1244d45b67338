-- collect_facet_cells: unit rows of some slots as cells of facets, see collect_cells. Cells are many and small.
--
--   plan    no_jit, unsorted, loop_again, memory_128
create or replace function register.collect_facet_cells(
  p_round_id       bigint,
  p_partition_seq  integer,
  p_source         text,
  p_from_flush     bigint,
  p_to_flush       bigint,
  p_slots          int4multirange
)
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  insert into register.report_cell (round_id, report, partition_seq, flush_id, sign, weight, facet_key, unit_type,
                                    unit_id, valid_from, valid_until, next_from, birth_key, death_key,
                                    used_for_counting, primary_activity_category_path, secondary_activity_category_path,
                                    sector_path, legal_form_id, physical_region_path, physical_country_id, unit_size_id,
                                    status_id, name, address_key, moments, value_counts)
  select p_round_id, 'facet', p_partition_seq, c.flush_id, c.sign, c.weight,
         register.history_facet_key(c.unit_type, a1.path, a2.path, s.path, c.legal_form_id, r.path,
                                    c.physical_country_id, c.unit_size_id, c.status_id),
         c.unit_type, c.unit_id, c.valid_from, c.valid_until, c.next_from, c.birth_key, c.death_key,
         c.used_for_counting, a1.path, a2.path, s.path, c.legal_form_id, r.path, c.physical_country_id, c.unit_size_id,
         c.status_id, c.name, c.address_key, c.moments, c.value_counts
    from (
      select u.flush_id, u.sign, u.unit_type, g.unit_id, u.valid_from, u.valid_until, u.next_from, u.birth_key,
             u.death_key, u.used_for_counting, u.primary_activity_category_id, u.secondary_activity_category_id,
             u.sector_id, u.legal_form_id, u.physical_region_id, u.physical_country_id, u.unit_size_id, u.status_id,
             count(*)::integer as weight,
             min(case when g.unit_id is not null then u.name end) as name,
             min(case when g.unit_id is not null then u.address_key end) as address_key,
             register.total_moments(u.moments) as moments,
             register.total_counts(u.value_counts) as value_counts
        from register.unit_cells(p_source, p_from_flush, p_to_flush, p_slots) as u
       cross join lateral (
         select case when p_source = 'changes' or not u.is_only then u.unit_id end as unit_id
       ) as g
       group by u.flush_id, u.sign, u.unit_type, g.unit_id, u.valid_from, u.valid_until, u.next_from, u.birth_key,
                u.death_key, u.used_for_counting, u.primary_activity_category_id, u.secondary_activity_category_id,
                u.sector_id, u.legal_form_id, u.physical_region_id, u.physical_country_id, u.unit_size_id, u.status_id
    ) as c
    left join register.activity_category as a1 on a1.id = c.primary_activity_category_id
    left join register.activity_category as a2 on a2.id = c.secondary_activity_category_id
    left join register.sector as s on s.id = c.sector_id
    left join register.region as r on r.id = c.physical_region_id;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
