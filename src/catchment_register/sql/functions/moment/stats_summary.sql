-- stats_summary: statistics for output, by the code of their variable. Numbers: count, sum, extremes, mean, sum of
-- squared deviations, variance, standard deviation and coefficient of variation, to two decimals; the last three need
-- two values, and the last one a mean that is not 0. Text and boolean values: how often each occurs.
create or replace function register.stats_summary(
  p_moments       register.moment[],
  p_value_counts  jsonb
)
  returns jsonb
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_object_agg(x.code, x.figures), '{}')
    from (select d.code,
                 jsonb_build_object(
                   'type', d.type, 'count', m.n, 'sum', trim_scale(round(m.total, 2)),
                   'min', trim_scale(round(m.min, 2)), 'max', trim_scale(round(m.max, 2)),
                   'mean', trim_scale(round(f.mean, 2)), 'sum_sq_diff', trim_scale(round(f.deviations, 2)),
                   'variance', trim_scale(round(v.variance, 2)), 'stddev', trim_scale(round(sqrt(v.variance), 2)),
                   'coefficient_of_variation_pct',
                   trim_scale(round(100 * sqrt(v.variance) / nullif(f.mean, 0), 2))) as figures
            from unnest(p_moments) as m
            join register.stat_definition as d on d.id = m.stat_definition_id
           -- Twenty decimals, so that dividing large numbers does not cut those that are shown.
           cross join lateral (select round(m.total, 20) / m.n as mean,
                                      round(m.n * m.squares - m.total * m.total, 20) / m.n as deviations) as f
           cross join lateral (select round(m.n * m.squares - m.total * m.total,
                                            20) / (m.n * nullif(m.n - 1, 0)) as variance) as v
          union all
          select d.code, jsonb_build_object('type', d.type, 'counts', c.counts)
            from jsonb_each(p_value_counts) as c (id, counts)
            join register.stat_definition as d on d.id = c.id::integer) as x;
$$;
