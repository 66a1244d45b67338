-- clock_change: the time, to the second, at which the clocks of a time zone go forward between two times; null when
-- they do not.
create or replace function worker.clock_change(
  p_timezone  text,
  p_from      timestamptz,
  p_to        timestamptz
)
  returns timestamptz
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_from   timestamptz := date_trunc('second', p_from);
  v_to     timestamptz := date_trunc('second', p_to);
  v_middle timestamptz;
  v_offset interval := (v_from at time zone p_timezone) - (v_from at time zone 'UTC');
begin
  if (v_to at time zone p_timezone) - (v_to at time zone 'UTC') <= v_offset then
    return null;
  end if;
  while v_to > v_from + interval '1 second' loop
    v_middle := date_trunc('second', v_from + (v_to - v_from) / 2);
    if (v_middle at time zone p_timezone) - (v_middle at time zone 'UTC') = v_offset then
      v_from := v_middle;
    else
      v_to := v_middle;
    end if;
  end loop;
  return v_to;
end;
$$;
