-- may_analyze: may the current user analyze this table? If not, ANALYZE would only skip it with a warning.
create or replace function worker.may_analyze(p_table oid)
  returns boolean
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select pg_has_role(c.relowner, 'usage')
         or pg_has_role((select d.datdba from pg_database as d where d.datname = current_database()), 'usage')
         or case
              when current_setting('server_version_num')::integer >= 170000
                then has_table_privilege(p_table, 'maintain')
              else false
            end
    from pg_class as c
   where c.oid = p_table;
$$;
