-- moment: as now, for views: a column with a volatile function is computed also where nobody asks for it.
create or replace function worker.moment()
  returns timestamptz
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select worker.now();
$$;
