-- open_report_scratch: temporary tables of this session for steps of the reports, made once and emptied at each commit.
-- Private, so that children side by side share nothing.
--
--   writes  pg_temp.count_sum, pg_temp.known_min, pg_temp.moment_merge, pg_temp.moment_merged, pg_temp.moment_part,
--           pg_temp.moment_piece, pg_temp.moment_sum, pg_temp.open_extreme, pg_temp.unit_facet_sum,
--           pg_temp.wanted_facet, pg_temp.wanted_unit
create or replace function register.open_report_scratch()
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if register.has_scratch('wanted_facet', 'open_extreme', 'known_min', 'wanted_unit', 'moment_part', 'moment_sum',
                          'count_sum', 'moment_merge', 'moment_piece', 'moment_merged', 'unit_facet_sum') then
    return;
  end if;
  -- Facets with an extreme to look up, and the units that may hold it.
  create temporary table wanted_facet (unit_type text collate "C" not null, physical_region_path text collate "C",
                                       primary_activity_category_path text collate "C", legal_form_id integer,
                                       physical_country_id integer, status_id integer, unit_size_id integer,
                                       is_any_size boolean not null default false) on commit delete rows;
  -- Facets and periods of a history with an extreme to look up.
  create temporary table open_extreme (facet_key uuid not null, period_key integer not null) on commit delete rows;
  -- The smallest values that are published, whose holders are counted.
  create temporary table known_min (unit_type text collate "C" not null, stat_definition_id integer not null,
                                    value numeric not null)
    on commit delete rows;
  create temporary table wanted_unit (unit_type text collate "C" not null,
                                      unit_id integer not null) on commit delete rows;
  -- Values that come together under a key: facet and period.
  create temporary table moment_part (facet_key uuid not null, period_key integer not null, sign smallint not null,
                                      moments register.moment[], value_counts jsonb) on commit delete rows;
  -- Their sums: what a key gains and loses.
  create temporary table moment_sum (facet_key uuid not null, period_key integer not null, added register.moment[],
                                     removed register.moment[]) on commit delete rows;
  create temporary table count_sum (facet_key uuid not null, period_key integer not null, added jsonb, removed jsonb,
                                    primary key (facet_key, period_key)) on commit delete rows;
  -- What is published under a key, and what it gains and loses; variable by variable; and the outcome.
  create temporary table moment_merge (facet_key uuid not null, period_key integer not null, old register.moment[],
                                       added register.moment[], removed register.moment[]) on commit delete rows;
  create temporary table moment_piece (facet_key uuid not null, period_key integer not null,
                                       stat_definition_id integer not null, n bigint not null, total numeric not null,
                                       squares numeric not null, min numeric, min_count bigint, max numeric,
                                       max_count bigint) on commit delete rows;
  create temporary table moment_merged (facet_key uuid not null, period_key integer not null, moments register.moment[],
                                        primary key (facet_key, period_key)) on commit delete rows;
  -- Facets of units that a reduce has summed up; is_lookup: to find extremes in.
  create temporary table unit_facet_sum (is_lookup boolean not null, facet_key uuid not null, valid_from date not null,
                                         valid_until date not null, unit_type text collate "C" not null,
                                         physical_region_path text collate "C",
                                         primary_activity_category_path text collate "C", sector_path text collate "C",
                                         legal_form_id integer, physical_country_id integer,
                                         status_id integer, count bigint not null, added register.moment[],
                                         removed register.moment[], added_counts jsonb, removed_counts jsonb)
    on commit delete rows;
end;
$$;
