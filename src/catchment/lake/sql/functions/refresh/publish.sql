-- publish: mark a refresh as published, if its attempt still holds it. Called by the guard within the lake's commit,
-- with its snapshot; or without one, when there was nothing to write.
--
--   PUBLISHING -> PUBLISHED
--   locks   the refresh row, then the frontier row; see put_replacement
--   raises  CM015 the commit to the lake is refused
create or replace function lake.publish(
  p_refresh_id       bigint,
  p_fence            bigint,
  p_commit_snapshot  bigint
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_refresh lake.refresh;
begin
  update lake.refresh as r
     set state           = 'PUBLISHED',
         commit_snapshot = p_commit_snapshot,
         published_at    = worker.now()
   where r.id = p_refresh_id
     and r.fence = p_fence
     and r.state = 'PUBLISHING'
  returning r.* into v_refresh;
  if not found then
    perform lake.veto(format('refresh %s is not being published under fence %s: another attempt has taken it over, or '
                             'it is over',
                             p_refresh_id, p_fence));
  end if;
  perform lake.put_frontier(v_refresh);
  perform lake.put_replacement(d.id) from lake.dt as d where d.id = v_refresh.dt_id and d.replaces is not null;
end;
$$;
