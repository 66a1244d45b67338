-- retry_delay: how long a task waits after its n-th failure, with jitter around the exponential curve. The curve ends
-- at a factor of e^20 (about 5e8), so that it cannot leave the range of its type.
create or replace function worker.retry_delay(
  p_failures   integer,
  p_delay      interval,
  p_factor     double precision,
  p_max_delay  interval,
  p_jitter     double precision
)
  returns interval
  language sql volatile
return make_interval(secs => least(
         extract(epoch from p_delay)::double precision
           * case when ln(p_factor) * (p_failures - 1) < 20 then power(p_factor, p_failures - 1) else exp(20) end,
         extract(epoch from p_max_delay)::double precision))
       * (1 + p_jitter * (2 * random() - 1));
