-- fill_history_facet: the first rows of the history by facet, into an empty table. Its indexes are made when the rows
-- are in, which takes a fraction of the time.
--
--   locks   access exclusive on the table
--   plan    build_256
create or replace function register.fill_history_facet(p_round_id bigint)
  returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_info jsonb;
begin
  drop index register.statistical_history_facet_key, register.statistical_history_facet_year,
             register.statistical_history_facet_month;
  v_info := register.replace_history(p_round_id, 'facet');
  create unique index statistical_history_facet_key
    on register.statistical_history_facet_row (facet_key, (year * 100 + coalesce(month, 0)));
  create index statistical_history_facet_year
    on register.statistical_history_facet_row (year) where resolution = 'year';
  create index statistical_history_facet_month
    on register.statistical_history_facet_row (year, month) where resolution = 'year-month';
  return v_info;
end;
$$;
