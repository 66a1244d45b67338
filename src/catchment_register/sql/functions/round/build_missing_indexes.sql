-- build_missing_indexes: create the indexes of a published table that it does not have.
--
--   locks   share on the table, until commit
create or replace function register.build_missing_indexes(p_report text)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_index text;
begin
  foreach v_index in array register.fill_indexes(p_report) loop
    if to_regclass('register.' || v_index) is null then
      perform register.build_index(v_index);
    end if;
  end loop;
end;
$$;
