-- require_period: validate a period: days that every client can read, or open ends, with the first day before the end.
-- A first day of -infinity means the whole time.
--
--   raises  RG022 the period is invalid
create or replace function register.require_period(
  p_valid_from   date,
  p_valid_until  date
)
  returns void
  language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_wrong date;
begin
  select d.day into v_wrong
    from (values (p_valid_from), (p_valid_until)) as d (day)
   where isfinite(d.day)
     and d.day not between '0001-01-01' and '9999-12-30'
   limit 1;
  if v_wrong is not null then
    perform register.refuse_edit(format('%s is outside of 0001-01-01 to 9999-12-30', v_wrong),
                                 'Use infinity for an open end.', 'RG022');
  elsif p_valid_from is null or p_valid_until is null or p_valid_from >= p_valid_until then
    perform register.refuse_edit(format('nothing is valid from %s until %s', p_valid_from, p_valid_until),
                                 'The last day must not be before the first one.', 'RG022');
  end if;
end;
$$;
