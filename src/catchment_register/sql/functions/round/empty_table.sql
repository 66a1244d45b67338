-- empty_table: delete all rows of a table of ours. It is truncated, unless it is being read.
--
--   locks   access exclusive on the table, until commit, if nobody reads it; else share row exclusive
create or replace function register.empty_table(p_table regclass)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if register.take_alone(p_table) then
    execute format('truncate %s', p_table);
  else
    -- A session that still writes to it ends first, so that none of its rows is overlooked.
    execute format('lock table %s in share row exclusive mode', p_table);
    execute format('delete from %s', p_table);
  end if;
end;
$$;
