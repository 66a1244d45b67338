-- batch_limit: how many tasks a session claims next, after a batch: twice as many while claims come back full, limited
-- to what fits into p_span at the pace of the batch, so that no claimed task waits longer. At most 32: with a
-- subtransaction each, and others inside, a transaction of more than 64 would be slow to look at for all sessions.
create or replace function worker.batch_limit(
  p_asked    integer,
  p_claimed  integer,
  p_begun    integer,
  p_took     interval,
  p_span     interval
)
  returns integer
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select case
           when p_begun < p_claimed then greatest(p_begun, 1)
           when p_claimed < p_asked then greatest(p_claimed, 1)
           else least(2 * p_claimed, 32,
                      greatest(1, p_claimed * extract(epoch from p_span)
                                  / greatest(extract(epoch from p_took), 0.00001))::integer)
         end;
$$;
