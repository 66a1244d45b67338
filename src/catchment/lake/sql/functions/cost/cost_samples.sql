-- cost_samples: the cost of the newest refreshes of a table, newest first.
create or replace function lake.cost_samples(p_dt_id bigint)
  returns table (action text, units double precision, ms double precision)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select s.action, s.units, s.ms from lake.cost_sample as s where s.dt_id = p_dt_id order by s.id desc
$$;
