-- activate_table: the definition kept by create_table comes into force. Called by the guard within the commit that
-- creates the table in the lake, so both happen or neither. Of a replaced table nothing is left but its id, its history
-- and its suspension.
--
--   creating | active | suspended | dropping -> active; a suspended one stays so
--   locks   the table's row, then its frontier
--   raises  CM015 the commit to the lake is refused
create or replace function lake.activate_table(
  p_dt_id       bigint,
  p_generation  integer
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_next     jsonb;
  v_stored   bigint;
  v_physical bigint;
begin
  select d.next, coalesce(d.replaces, d.id) into v_next, v_stored from lake.dt as d where d.id = p_dt_id for update;
  if v_next is null or (v_next ->> 'generation')::integer <> p_generation then
    perform lake.veto(format('table %s has no definition of generation %s that waits to come into force', p_dt_id,
                             p_generation));
  end if;
  v_physical := lake.find_physical(v_stored, p_generation);
  if v_physical is null then
    perform lake.veto(format('the lake has no table dt.t%sg%s', v_stored, p_generation));
  end if;

  update lake.dt as d
     set schema_name     = v_next ->> 'schema_name',
         name            = v_next ->> 'name',
         generation      = p_generation,
         definition      = v_next ->> 'definition',
         definition_hash = v_next ->> 'definition_hash',
         properties      = v_next -> 'properties',
         target_lag      = make_interval(secs => (v_next ->> 'target_lag')::double precision),
         scheduler       = coalesce((v_next ->> 'scheduler')::boolean, true),
         strategy        = v_next ->> 'strategy',
         reason          = v_next ->> 'reason',
         is_always_due   = coalesce((v_next ->> 'is_always_due')::boolean, false),
         layout          = v_next -> 'layout',
         buckets         = coalesce((v_next ->> 'buckets')::integer, 1),
         physical_id     = v_physical,
         next            = null,
         state           = case d.state when 'suspended' then d.state else 'active' end,
         error_streak    = 0,
         expected_ms     = 0,
         component       = 0,
         updated_at      = worker.now()
   where d.id = p_dt_id;
  update lake.frontier as f
     set epoch = f.epoch + 1, data_snapshot = null, data_at = null, commit_snapshot = null, checked_snapshot = null,
         rows = null, round_id = null
   where f.dt_id = p_dt_id;
  delete from lake.read as r where r.dt_id = p_dt_id;
  delete from lake.version as v where v.dt_id = p_dt_id;
  delete from lake.cost_sample as c where c.dt_id = p_dt_id;
  delete from lake.source as s where s.dt_id = p_dt_id;
  insert into lake.source (dt_id, table_id, schema_name, table_name, source_dt_id, used_columns)
  select p_dt_id, n.table_id, n.schema_name, n.table_name, n.source_dt_id, coalesce(n.used_columns, '{}')
    from jsonb_to_recordset(v_next -> 'sources')
           as n (table_id bigint, schema_name text, table_name text, source_dt_id bigint, used_columns text[]);
end;
$$;
