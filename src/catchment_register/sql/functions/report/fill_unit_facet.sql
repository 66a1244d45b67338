-- fill_unit_facet: the first facets of units, from the scratch table unit_facet_sum into an empty table. Its key and
-- index are made when the rows are in, which takes a fraction of the time, unless the table is being read.
--
--   locks   access exclusive on the table, until commit, if nobody reads it
--   plan    build_256
create or replace function register.fill_unit_facet()
  returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_info jsonb;
begin
  if not register.take_alone('register.statistical_unit_facet_row') then
    return register.replace_unit_facet();
  end if;
  alter table register.statistical_unit_facet_row drop constraint statistical_unit_facet_row_pkey;
  drop index register.statistical_unit_facet_valid;
  v_info := register.replace_unit_facet();
  alter table register.statistical_unit_facet_row add primary key (facet_key);
  create index statistical_unit_facet_valid on register.statistical_unit_facet_row (valid_from, valid_until);
  return v_info;
end;
$$;
