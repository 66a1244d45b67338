-- take_alone: lock a table of ours until commit, from readers too. It gives up after two seconds: a session that has
-- read the table may keep its transaction open for hours, and all later readers would wait behind this lock.
--
--   returns whether the table is locked
--   locks   access exclusive on the table, until commit
create or replace function register.take_alone(p_table regclass)
  returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s'
as $$
begin
  execute format('lock table %s in access exclusive mode', p_table);
  return true;
exception
  when lock_not_available then
    return false;
end;
$$;
