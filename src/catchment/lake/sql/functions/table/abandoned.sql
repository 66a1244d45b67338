-- abandoned: new definitions that never took the place of a table and never will: given up, or made by a session that
-- died before it asked for the first refresh. All that the lake has of them is the table dt.t<stored_id>g<generation>.
create or replace function lake.abandoned()
  returns table (id bigint, stored_id bigint, generation integer)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select d.id, d.replaces, greatest(d.generation, (d.next ->> 'generation')::integer)
    from lake.dt as d
   where d.replaces is not null
     and (d.state = 'dropping'
          or d.updated_at < worker.now() - interval '1 hour'
         and not exists (select from lake.refresh as r where r.dt_id = d.id and r.finished_at is null))
   order by d.id
$$;
