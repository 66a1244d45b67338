-- history_name: the report that cells of the history (history) or of facets (facet) become; its rows are in the table
-- of that name with _row behind it. Both tables have the same columns, so that what is staged for them is merged and
-- published by the same statements.
create or replace function register.history_name(p_report text)
  returns text
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select case p_report when 'history' then 'statistical_history' when 'facet' then 'statistical_history_facet' end;
$$;
