-- put_replacement: the new definition of a dynamic table has been filled, and takes the place of the old one. Called by
-- the guard within the commit that fills it, which lets the name lead to the new content and drops the old one. The
-- table keeps its id, its name, its history and whether it is suspended.
--
--   locks   the row of the table, its frontier row, then the rows of the new definition
create or replace function lake.put_replacement(p_dt_id bigint)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_new lake.dt;
  v_id  bigint;
begin
  select d.* into v_new from lake.dt as d where d.id = p_dt_id;
  v_id := v_new.replaces;
  -- First, as in settle_idle: who has settled a refresh of the old definition holds it, and may wait for the frontier.
  perform d.id from lake.dt as d where d.id = v_id for no key update;
  update lake.frontier as f
     set epoch = f.epoch + 1, data_snapshot = n.data_snapshot, data_at = n.data_at,
         commit_snapshot = n.commit_snapshot, checked_snapshot = n.checked_snapshot, rows = n.rows
    from lake.frontier as n
   where f.dt_id = v_id
     and n.dt_id = v_new.id;
  update lake.dt as d
     set generation      = v_new.generation,
         definition      = v_new.definition,
         definition_hash = v_new.definition_hash,
         properties      = v_new.properties,
         target_lag      = v_new.target_lag,
         scheduler       = coalesce((v_new.properties ->> 'scheduler')::boolean, true),
         strategy        = v_new.strategy,
         reason          = v_new.reason,
         is_always_due   = v_new.is_always_due,
         layout          = v_new.layout,
         buckets         = v_new.buckets,
         physical_id     = v_new.physical_id,
         error_streak    = 0,
         expected_ms     = 0,
         component       = 0,
         updated_at      = worker.now()
   where d.id = v_id;
  delete from lake.read as r where r.dt_id = v_id;
  update lake.read as r set dt_id = v_id where r.dt_id = v_new.id;
  delete from lake.version as v where v.dt_id = v_id;
  update lake.version as v set dt_id = v_id where v.dt_id = v_new.id;
  delete from lake.source as s where s.dt_id = v_id;
  update lake.source as s set dt_id = v_id where s.dt_id = v_new.id;
  delete from lake.cost_sample as c where c.dt_id = v_id;
  update lake.refresh as r set dt_id = v_id where r.dt_id = v_new.id;
  delete from lake.dt as d where d.id = v_new.id;
end;
$$;
