-- analyze_tables: handler of the command of that name. Runs with the rights of the login that runs the task. payload.tables has
-- qualified names; without it, all tables that have changed since their last ANALYZE and that this login may analyze. Tables that
-- are gone are reported and skipped.
--
--   locks   each table, as ANALYZE does, by oid
--   raises  42501 when it may not analyze a named table, CM004 when payload.tables is no list of names
create or replace procedure worker.analyze_tables(
  p_payload     jsonb,
  inout p_info  jsonb
)
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_names   jsonb := nullif(p_payload -> 'tables', 'null');
  v_tables  oid[];
  v_missing text[];
  v_denied  text;
  v_owner   text;
  v_table   text;
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
      errcode = 'CM004',
      message = format('payload.tables of analyze_tables is %s, expected a list of qualified names', left(v_names::text, 80)),
      hint = 'CALL worker.enqueue_analyze_tables(''app.orders'') makes the payload.';
  else
    select coalesce(array_agg(distinct to_regclass(n)::oid) filter (where to_regclass(n) is not null), '{}'),
           coalesce(array_agg(n order by n) filter (where to_regclass(n) is null), '{}')
      into v_tables, v_missing
      from jsonb_array_elements_text(v_names) as n;
    select t::regclass::text, pg_get_userbyid(c.relowner) into v_denied, v_owner
      from unnest(v_tables) as t
      join pg_class as c on c.oid = t
     where not worker.may_analyze(t)
     order by t
     limit 1;
    if found then
      raise exception using
        errcode = 'insufficient_privilege',
        message = format('%s may not analyze table %s, which belongs to %s', current_user, v_denied, v_owner),
        hint = format('grant %I to %I; from PostgreSQL 17 on, grant maintain on %s to %2$I is enough.', v_owner, current_user,
                      v_denied);
    end if;
  end if;

  for v_table in
    select format('%I.%I', n.nspname, c.relname)
      from pg_class as c
      join pg_namespace as n on n.oid = c.relnamespace
     where c.oid = any (v_tables)
     order by c.oid
  loop
    execute 'analyze ' || v_table;
  end loop;
  p_info := jsonb_build_object('analyzed', cardinality(v_tables), 'missing', to_jsonb(coalesce(v_missing, '{}')));
end;
$$;
