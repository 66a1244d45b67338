-- create_table: keep the definition of a dynamic table until the commit that creates it in the lake puts it into force.
-- Only under the commit lock, so a row in state creating was left by a session that died, and is taken over.
-- p_table: schema_name, name, definition, definition_hash, properties, target_lag (seconds), scheduler, strategy,
-- reason, is_always_due, layout, buckets, sources [{table_id, schema_name, table_name, source_dt_id, used_columns}],
-- or_replace, if_not_exists.
--
--   returns {"id", "generation", "exists"}: exists when there is one and if_not_exists lets it be; then nothing has
--           happened
--   locks   the table's row
--   raises  CM014 when the name is taken
create or replace function lake.create_table(p_table jsonb)
  returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_dt lake.dt;
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
  end if;
  -- A generation is never given twice: the table of one that did not get into force may exist.
  update lake.dt as d
     set next = p_table || jsonb_build_object('generation', greatest(d.generation, (d.next ->> 'generation')::integer)
                                              + 1),
         updated_at = worker.now()
   where d.id = v_dt.id
  returning d.* into v_dt;
  return jsonb_build_object('id', v_dt.id, 'generation', v_dt.next -> 'generation', 'exists', false);
end;
$$;
