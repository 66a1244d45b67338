-- refilled: the tokens of a bucket now. It holds one period's worth at most, so a rate never turns into a burst of
-- saved starts.
create or replace function worker.refilled(
  p_tokens  double precision,
  p_since   timestamptz,
  p_now     timestamptz,
  p_rate    integer,
  p_per     interval
)
  returns double precision
  language sql immutable
return case
         when p_rate is null then null
         else least(p_rate, p_tokens + greatest(extract(epoch from p_now - p_since), 0) / extract(epoch from p_per)
                    * p_rate)
       end;
