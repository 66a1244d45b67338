-- facet_slot: the share of the facets, 0 to 16383, that a row belongs to by all it is grouped by: rows of one group are
-- in one share. Plain arithmetic, so that no upgrade of the server moves rows. Without a SET clause, so that it is
-- inlined.
create or replace function register.facet_slot(
  p_unit_type                       text,
  p_primary_activity_category_id    integer,
  p_secondary_activity_category_id  integer,
  p_sector_id                       integer,
  p_legal_form_id                   integer,
  p_physical_region_id              integer,
  p_physical_country_id             integer,
  p_unit_size_id                    integer,
  p_status_id                       integer
)
  returns smallint
  language sql immutable
as $$
  select ((((coalesce(p_primary_activity_category_id, 0)::bigint * 15485863
             + coalesce(p_secondary_activity_category_id, 0)::bigint * 32452843
             + coalesce(p_sector_id, 0)::bigint * 49979687
             + coalesce(p_legal_form_id, 0)::bigint * 67867967
             + coalesce(p_physical_region_id, 0)::bigint * 86028121
             + coalesce(p_physical_country_id, 0)::bigint * 104395301
             + coalesce(p_unit_size_id, 0)::bigint * 122949823
             + coalesce(p_status_id, 0)::bigint * 141650939
             + case p_unit_type when 'establishment' then 1 when 'legal_unit' then 2 when 'enterprise' then 3 else 4 end
               * 160481183::bigint) % 2147483647) * 48271) % 2147483647 % 16384)::smallint;
$$;
