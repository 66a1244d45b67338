-- period: how often a table is looked at, in seconds: a power of two, so that all tables have their turns together. At
-- most half of its lag; less where the refresh itself needs a good part of it. An expression without settings, so that
-- it becomes part of the query that uses it.
create or replace function lake.period(
  p_lag       interval,
  p_chain_ms  double precision
)
  returns double precision
  language sql immutable
return 2 ^ floor(log(2, greatest(1, least(extract(epoch from p_lag) / 2,
                                          extract(epoch from p_lag) - coalesce(p_chain_ms, 0)::numeric / 1000
                                          - 1))))::double precision;
