-- ms_between: milliseconds from one time to another.
create or replace function lake.ms_between(
  p_from  timestamptz,
  p_to    timestamptz
)
  returns double precision
  language sql immutable
return extract(epoch from p_to - p_from) * 1000;
