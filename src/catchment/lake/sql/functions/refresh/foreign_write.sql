-- foreign_write: whether another program has written the content of a dynamic table between the last check and a
-- snapshot. Our own commit in that time is the one of the frontier; upkeep changes no content.
--
--   returns FOREIGN_WRITE, or null
create or replace function lake.foreign_write(
  p_physical_id  bigint,
  p_frontier     lake.frontier,
  p_snapshot     bigint
)
  returns text
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select 'FOREIGN_WRITE'
   where exists (select
                   from lake.change as c
                  where c.table_id = p_physical_id
                    and c.kind <> 'upkeep'
                    and c.snapshot_id > p_frontier.checked_snapshot
                    and c.snapshot_id <= p_snapshot
                    and c.snapshot_id <> p_frontier.commit_snapshot)
$$;
