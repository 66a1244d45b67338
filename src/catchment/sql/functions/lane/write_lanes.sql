-- write_lanes: lane rows, by position, get a new head, a new beginning or a new end; null leaves the value. With every
-- other way to read a table switched off, rows can only be fetched by their position, whatever the planner takes the
-- table for.
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
