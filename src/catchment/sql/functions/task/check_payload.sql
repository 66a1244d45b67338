-- check_payload: refuse an invalid payload. A missing payload is an empty object.
--
--   raises  CM004 the payload cannot be stored
create or replace function worker.check_payload(
  p_command  text,
  p_payload  jsonb
)
  returns jsonb
  language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  c_limit constant integer := 16 * 1024 * 1024;
  v_size  bigint;
begin
  if p_payload is null then
    return '{}';
  elsif jsonb_typeof(p_payload) <> 'object' then
    raise exception using
      errcode = 'CM004',
      message = format('the payload of %s is a JSON %s, expected an object', p_command, jsonb_typeof(p_payload)),
      hint = 'Wrap it: {"value": …}.';
  elsif pg_column_size(p_payload) > 1000 or pg_column_compression(p_payload) is not null then
    -- The size as text, which is what a worker gets: compressed, or with long numbers, the jsonb value can be a
    -- thousandth of it.
    v_size := octet_length(p_payload::text);
    if v_size > c_limit then
      raise exception using
        errcode = 'CM004',
        message = format('the payload of %s has %s bytes, at most %s are taken', p_command, v_size, c_limit),
        hint = 'Store the data in a table or a file and put its key in the payload.';
    end if;
  end if;
  return p_payload;
end;
$$;
