-- has_scratch: whether this session has these temporary tables from an earlier call of a function of the register.
-- Any session can make temporary tables of any name, and a trigger on one would run with the rights of the owner. So
-- every function that opens scratch tables asks here first: all of them are plain tables that the owner made, or none
-- exists.
--
--   raises  42P07 when one of them was made by another role, or is not a plain table
create or replace function register.has_scratch(variadic p_tables text[])
  returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_count   bigint;
  v_foreign text;
begin
  select count(*),
         min(c.relname) filter (where c.relkind <> 'r' or c.relhastriggers or c.relhasrules or c.relrowsecurity
                                   or pg_get_userbyid(c.relowner) <> current_user)
    into v_count, v_foreign
    from pg_class as c
   where c.relname = any (p_tables)
     and c.relnamespace = pg_my_temp_schema();
  if v_foreign is not null then
    raise exception using
      errcode = 'duplicate_table',
      message = format('pg_temp.%I of this session is not a scratch table of the register', v_foreign),
      hint = 'The register makes temporary tables of this name. Drop or rename yours, or use another session.';
  end if;
  return v_count > 0;
end;
$$;
