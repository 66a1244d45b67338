-- enqueue_analyze_tables: enqueue a task that analyzes these tables, or all that have changed. It is independent of the
-- running task, as any enqueue; pending requests are merged.
--
--   raises  CM019 the arguments do not fit the command
create or replace procedure worker.enqueue_analyze_tables(variadic p_tables regclass[] default '{}')
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_wrong text;
  v_names jsonb;
begin
  if p_tables is null or exists (select from unnest(p_tables) as t
                                  where t is null or not exists (select from pg_class as c where c.oid = t)) then
    raise exception using
      errcode = 'CM019',
      message = format('%s is not a table', coalesce((select t::text
                                                     from unnest(p_tables) as t
                                                    where not exists (select from pg_class as c where c.oid = t)
                                                      and t is not null
                                                    limit 1), 'null')),
      hint = 'Name tables, or none at all for every table that has changed.';
  end if;
  select format('%I.%I', n.nspname, c.relname) into v_wrong
    from pg_class as c
    join pg_namespace as n on n.oid = c.relnamespace
   where c.oid = any (p_tables)
     and c.relkind not in ('r', 'p', 'm', 'f')
   order by 1
   limit 1;
  if found then
    raise exception using
      errcode = 'CM019',
      message = format('%s is not a table and has no statistics', v_wrong),
      hint = 'Name tables, partitioned tables, materialized views or foreign tables.';
  end if;
  select jsonb_agg(format('%I.%I', n.nspname, c.relname) order by n.nspname, c.relname) into v_names
    from pg_class as c
    join pg_namespace as n on n.oid = c.relnamespace
   where c.oid = any (p_tables);
  perform worker.enqueue('analyze_tables', jsonb_build_object('tables', v_names));
end;
$$;
