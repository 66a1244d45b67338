-- advance: close the rounds in which nothing is left to do; one round, or all.
--
--   locks   the rows of open rounds by id, those that are free
create or replace function lake.advance(
  p_round_id  bigint default null
)
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  update lake.round as o
     set closed_at = worker.now()
   where o.id in (select n.id
                    from lake.round as n
                   where n.closed_at is null
                     and (p_round_id is null or n.id = p_round_id)
                   order by n.id
                     for update skip locked)
     and not exists (select from lake.refresh as r where r.round_id = o.id and r.finished_at is null);
end;
$$;
