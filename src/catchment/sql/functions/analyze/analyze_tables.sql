-- analyze_tables: handler of the command of that name. Runs with the rights of the login that runs the task.
-- payload.tables is a list of qualified names. Default: all tables that have changed since their last ANALYZE and that
-- this login may analyze. A table that is missing, cannot be locked within a second or may not be analyzed is reported
-- in the info; the others are analyzed.
--
--   locks   each table, as ANALYZE does, by oid; waits for each a second at most
--   raises  CM019 the arguments do not fit the command; 42501 when it may analyze none of the named tables
create or replace procedure worker.analyze_tables(
  p_payload     jsonb,
  inout p_info  jsonb
)
  language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '1s'
as $$
declare
  v_names   jsonb := nullif(p_payload -> 'tables', 'null');
  v_tables  oid[] := '{}';
  v_oid     oid;
  v_missing text[] := '{}';
  v_skipped jsonb := '{}';
  v_denied  text;
  v_owner   text;
  v_name    text;
  v_table   record;
  v_count   integer := 0;
begin
  if v_names is null then
    v_tables := array(
      select c.oid
        from pg_class as c
        join pg_namespace as n on n.oid = c.relnamespace
       where c.relkind in ('r', 'm')
         and c.relpersistence <> 't'
         and n.nspname not in ('pg_catalog', 'information_schema')
         and n.nspname not like 'pg_toast%'
         and pg_stat_get_mod_since_analyze(c.oid) > 0
         and worker.may_analyze(c.oid));
  elsif jsonb_typeof(v_names) <> 'array' or v_names @? '$[*] ? (@.type() != "string")' then
    raise exception using
      errcode = 'CM019',
      message = format('payload.tables of analyze_tables is %s, expected a list of qualified names',
                       left(v_names::text, 80)),
      hint = 'CALL worker.enqueue_analyze_tables(''app.orders'') makes the payload.';
  else
    for v_name in select distinct n from jsonb_array_elements_text(v_names) as n order by n loop
      begin
        v_oid := to_regclass(v_name);
        if v_oid is null then
          v_missing := v_missing || v_name;
        else
          v_tables := v_tables || v_oid;
        end if;
      exception
        when syntax_error or invalid_name or invalid_parameter_value or feature_not_supported then
          v_skipped := v_skipped || jsonb_build_object(v_name, 'not the name of a table, expected schema.table');
      end;
    end loop;
  end if;

  for v_table in
    select format('%I.%I', n.nspname, c.relname) as name, pg_get_userbyid(c.relowner) as owner,
           worker.may_analyze(c.oid) as may, c.relkind in ('r', 'p', 'm', 'f') as is_table
      from pg_class as c
      join pg_namespace as n on n.oid = c.relnamespace
     where c.oid = any (v_tables)
     order by c.oid
  loop
    if not v_table.is_table then
      v_skipped := v_skipped || jsonb_build_object(v_table.name, 'not a table');
    elsif not v_table.may then
      v_denied := coalesce(v_denied, v_table.name);
      v_owner := coalesce(v_owner, v_table.owner);
      v_skipped := v_skipped || jsonb_build_object(v_table.name, format('%s may not analyze it, it belongs to %s',
                                                                        current_user, v_table.owner));
    else
      begin
        execute 'analyze ' || v_table.name;
        v_count := v_count + 1;
      exception
        when lock_not_available then
          v_skipped := v_skipped || jsonb_build_object(v_table.name, 'locked by another session');
        when undefined_table or invalid_schema_name then
          v_missing := v_missing || v_table.name;
        when others then
          v_skipped := v_skipped || jsonb_build_object(v_table.name, sqlerrm);
      end;
    end if;
  end loop;
  if v_count = 0 and v_denied is not null then
    raise exception using
      errcode = 'insufficient_privilege',
      message = format('%s may not analyze table %s, which belongs to %s', current_user, v_denied, v_owner),
      hint = format('grant %I to %I; from PostgreSQL 17 on, grant maintain on %s to %2$I is enough.', v_owner,
                    current_user, v_denied);
  end if;
  p_info := jsonb_build_object('analyzed', v_count, 'missing', to_jsonb(v_missing))
            || case when v_skipped = '{}' then '{}' else jsonb_build_object('skipped', v_skipped) end;
end;
$$;
