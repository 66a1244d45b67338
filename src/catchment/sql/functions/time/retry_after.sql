-- retry_after: the delay that an error asks for before the next try, if it does so in words that can be understood: an interval,
-- or a number of seconds; at most 100 years.
create or replace function worker.retry_after(p_error jsonb)
  returns interval
  language plpgsql
  immutable
  set search_path = pg_catalog, pg_temp
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
