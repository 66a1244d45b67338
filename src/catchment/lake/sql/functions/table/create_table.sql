-- create_table: keep the definition of a dynamic table until the commit that creates it in the lake puts it into force.
-- Only under the commit lock, so a row in state creating was left by a session that died, and is taken over.
-- p_table: schema_name, name, definition, definition_hash, properties, target_lag (seconds), scheduler, strategy,
-- reason, is_always_due, layout, buckets, sources [{table_id, schema_name, table_name, source_dt_id, used_columns}],
-- or_replace, if_not_exists.
--
-- A table that has content keeps it, and its definition, until the new one has been filled: that gets a row that
-- replaces the table later, see put_replacement. There must be no other such row.
--
--   returns {"id", "generation", "exists", "replaces"}: exists when there is one and if_not_exists lets it be; then
--           nothing has happened. replaces: the table whose place this one is going to take, or null
--   locks   the table's row
--   raises  CM014 a dynamic table of this name exists
create or replace function lake.create_table(p_table jsonb)
  returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_dt         lake.dt;
  v_old        lake.dt;
  v_generation integer;
begin
  select d.* into v_dt
    from lake.dt as d
   where lower(d.schema_name) = lower(p_table ->> 'schema_name')
     and lower(d.name) = lower(p_table ->> 'name')
     for update;
  if not found then
    insert into lake.dt (schema_name, name, generation, definition, definition_hash, properties, strategy, reason,
                         layout)
    values (p_table ->> 'schema_name', p_table ->> 'name', 0, p_table ->> 'definition', p_table ->> 'definition_hash',
            p_table -> 'properties', p_table ->> 'strategy', p_table ->> 'reason', p_table -> 'layout')
    returning * into v_dt;
    insert into lake.frontier (dt_id) values (v_dt.id);
  elsif v_dt.state in ('active', 'suspended') and coalesce((p_table ->> 'if_not_exists')::boolean, false) then
    return jsonb_build_object('id', v_dt.id, 'generation', v_dt.generation, 'exists', true);
  elsif v_dt.state in ('active', 'suspended') and not coalesce((p_table ->> 'or_replace')::boolean, false) then
    raise exception using
      errcode = 'CM014',
      message = format('dynamic table %s.%s exists', v_dt.schema_name, v_dt.name),
      hint = 'Say CREATE OR REPLACE DYNAMIC TABLE, or IF NOT EXISTS, or drop it first.';
  elsif v_dt.state in ('active', 'suspended')
        and exists (select from lake.frontier as f where f.dt_id = v_dt.id and f.data_snapshot is not null) then
    v_old := v_dt;
    p_table := p_table || jsonb_build_object('schema_name', v_old.schema_name, 'name', '__' || v_old.name,
                                             'scheduler', false);
    insert into lake.dt (schema_name, name, generation, definition, definition_hash, properties, strategy, reason,
                         layout, replaces)
    values (p_table ->> 'schema_name', p_table ->> 'name', 0, p_table ->> 'definition', p_table ->> 'definition_hash',
            p_table -> 'properties', p_table ->> 'strategy', p_table ->> 'reason', p_table -> 'layout', v_old.id)
    returning * into v_dt;
    insert into lake.frontier (dt_id) values (v_dt.id);
  end if;
  -- A generation is never given twice: the table of one that did not get into force may exist.
  update lake.dt as d
     set last_generation = greatest(d.generation, d.last_generation) + 1
   where d.id = coalesce(v_old.id, v_dt.id)
  returning d.last_generation into v_generation;
  update lake.dt as d
     set next = p_table || jsonb_build_object('generation', v_generation), updated_at = worker.now()
   where d.id = v_dt.id
  returning d.* into v_dt;
  return jsonb_build_object('id', v_dt.id, 'generation', v_generation, 'exists', false, 'replaces', v_old.id);
end;
$$;
