-- explain_age: the age of a table's data, compared with its lag. See explain.
create or replace function lake.explain_age(
  p_dt_id  bigint,
  p_lag    interval,
  p_now    timestamptz
)
  returns setof worker.condition
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select case when f.data_at is null then 'not_filled'
                when p_lag is null     then 'no_target'
                when a.age > p_lag     then 'late'
                else 'fresh' end,
           false,
           jsonb_strip_nulls(jsonb_build_object(
             'data_at', f.data_at, 'lag_seconds', extract(epoch from a.age), 'target_seconds',
             extract(epoch from p_lag))),
           case when f.data_at is null then 'It has never been filled.'
                when p_lag is null then format('Its data is from %s, and it has no target lag.',
                                               worker.said_when(f.data_at, p_now))
                else format('Its data is from %s, and its target lag is %s.', worker.said_when(f.data_at, p_now),
                            worker.said_span(p_lag)) end,
           null
      from lake.frontier as f
     cross join lateral (select greatest(p_now - f.data_at, interval '0') as age) as a
     where f.dt_id = p_dt_id;
end;
$$;
