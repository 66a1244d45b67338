-- check_info: refuse an info of a SQL handler that is too large.
--
--   raises  CM028 the info cannot be stored
create or replace function worker.check_info(p_info jsonb)
  returns void
  language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  c_limit constant integer := 16 * 1024 * 1024;
  v_size  bigint;
begin
  if pg_column_size(p_info) > 1000 or pg_column_compression(p_info) is not null then
    v_size := octet_length(p_info::text);
    if v_size > c_limit then
      raise exception using
        errcode = 'CM028',
        message = format('the info has %s bytes, at most %s are stored', v_size, c_limit),
        hint = 'Store the data in a table and put its key in the info.';
    end if;
  end if;
end;
$$;
