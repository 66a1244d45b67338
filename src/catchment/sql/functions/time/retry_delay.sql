-- retry_delay: how long a task waits after its n-th failure, with jitter around the exponential curve.
create or replace function worker.retry_delay(
  p_failures   integer,
  p_delay      interval,
  p_factor     double precision,
  p_max_delay  interval,
  p_jitter     double precision
)
  returns interval
  language sql
  volatile
return least(p_delay * least(power(p_factor, p_failures - 1), 1e6), p_max_delay)
       * (1 + p_jitter * (2 * random() - 1));
