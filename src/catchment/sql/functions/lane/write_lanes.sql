-- write_lanes: set the head, the first or the last task of lane rows, by position; null keeps the value. With all other
-- scans switched off, rows can only be fetched by their position, regardless of table statistics.
--
--   plan    position
create or replace function worker.write_lanes(
  p_rows    tid[],
  p_heads   bigint[],
  p_firsts  bigint[],
  p_lasts   bigint[]
)
  returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  update worker.lane as l
     set head_id     = coalesce(u.head_id, l.head_id),
         first_place = coalesce(u.first_place, l.first_place),
         last_place  = coalesce(u.last_place, l.last_place)
    from unnest(p_rows, p_heads, p_firsts, p_lasts) as u (row_id, head_id, first_place, last_place)
   where l.ctid = u.row_id;
$$;
