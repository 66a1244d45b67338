-- fill_indexes: the indexes that begin_fill drops, those first that take longest.
create or replace function register.fill_indexes(p_report text)
  returns text[]
  language sql immutable security definer set search_path = pg_catalog, pg_temp
as $$
  select case p_report
           when 'statistical_unit'
             then array['statistical_unit_words', 'statistical_unit_key', 'statistical_unit_facet_dims']
           else array['statistical_history_facet_key', 'statistical_history_facet_month',
                      'statistical_history_facet_year']
         end;
$$;
