-- share_reading: how many rows a refresh has counted in a source whose reading does not know. The first count is that
-- of the round.
--
--   returns the rows of the reading
create or replace function lake.share_reading(
  p_refresh_id  bigint,
  p_table_id    bigint,
  p_rows        bigint
)
  returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  insert into lake.reading as g (round_id, schema_name, table_name, rows)
  select r.round_id, lower(s.schema_name), lower(s.table_name), p_rows
    from lake.refresh as r
    join lake.source as s on s.dt_id = r.dt_id and s.table_id = p_table_id
   where r.id = p_refresh_id
      on conflict (round_id, schema_name, table_name) do update
     set rows = coalesce(g.rows, excluded.rows)
  returning g.rows
$$;
