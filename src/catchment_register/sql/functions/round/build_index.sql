-- build_index: create an index that begin_fill has dropped. Made when the rows are there, it takes a fraction of the
-- time; and several sessions can make one each.
--
--   locks   share on the table, until commit
--   plan    build_512
create or replace function register.build_index(p_index text)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  case p_index
    when 'statistical_unit_key' then
      create unique index statistical_unit_key
        on register.statistical_unit_row (unit_type, unit_id, valid_from);
    -- Search by words of a name.
    when 'statistical_unit_words' then
      create index statistical_unit_words
        on register.statistical_unit_row using gin (register.name_words(name))
        where unit_type in ('establishment', 'legal_unit');
    -- Units of a facet: what is left of it when its largest or smallest goes; lists by region and activity.
    when 'statistical_unit_facet_dims' then
      create index statistical_unit_facet_dims
        on register.statistical_unit_row (physical_region_id, primary_activity_category_id, unit_type);
    -- The key of the history by facet, and its two kinds of periods.
    when 'statistical_history_facet_key' then
      create unique index statistical_history_facet_key
        on register.statistical_history_facet_row (facet_key, (year * 100 + coalesce(month, 0)));
    when 'statistical_history_facet_year' then
      create index statistical_history_facet_year
        on register.statistical_history_facet_row (year) where resolution = 'year';
    when 'statistical_history_facet_month' then
      create index statistical_history_facet_month
        on register.statistical_history_facet_row (year, month) where resolution = 'year-month';
  end case;
end;
$$;
