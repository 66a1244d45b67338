-- set_components: which dynamic tables are connected by reading each other, directly or through others. A component has
-- the smallest id in it. Not within a commit to the lake, which would be held up by who else writes these rows.
--
--   locks   rows of tables whose component changes
create or replace function lake.set_components()
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_seen    bigint[] := '{}';
  v_reached bigint[];
  v_id      bigint;
begin
  for v_id in select d.id from lake.dt as d order by d.id loop
    continue when v_id = any (v_seen);
    with recursive reached as (
      select v_id as id
      union
      select case e.dt_id when r.id then e.source_dt_id else e.dt_id end
        from reached as r
        join lake.source as e on e.source_dt_id is not null and r.id in (e.dt_id, e.source_dt_id)
    )
    select array_agg(r.id) into v_reached from reached as r;
    v_seen := v_seen || v_reached;
    update lake.dt as d set component = v_id where d.id = any (v_reached) and d.component <> v_id;
  end loop;
end;
$$;
