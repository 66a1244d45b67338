-- retry_after: the delay before the next attempt that an error asks for: an interval or a number of seconds, at most
-- 100 years; null if it has none, or an invalid one.
create or replace function worker.retry_after(p_error jsonb)
  returns interval
  language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_error ->> 'retry_after' is null then
    return null;
  end if;
  return least(greatest((p_error ->> 'retry_after')::interval, interval '0'), interval '100 years');
exception
  when data_exception then
    return null;
end;
$$;
