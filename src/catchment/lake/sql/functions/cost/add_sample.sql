-- add_sample: store the cost of a refresh; the newest 20 of each action are kept.
create or replace function lake.add_sample(
  p_dt_id   bigint,
  p_action  text,
  p_units   double precision,
  p_ms      double precision
)
  returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  insert into lake.cost_sample (dt_id, action, units, ms, at) values (p_dt_id, p_action, p_units, p_ms, worker.now());
  delete from lake.cost_sample as s
   where s.dt_id = p_dt_id
     and s.action = p_action
     and s.id < (select n.id
                   from lake.cost_sample as n
                  where n.dt_id = p_dt_id
                    and n.action = p_action
                  order by n.id desc
                 offset 19 limit 1)
$$;
