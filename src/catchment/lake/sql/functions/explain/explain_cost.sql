-- explain_cost: a refresh takes so long that the lag cannot be kept. Connected tables are refreshed one round after
-- another, and a round shows the data of its beginning: just before the next one ends they are two rounds old. See
-- explain.
create or replace function lake.explain_cost(
  p_dt        lake.dt,
  p_lag       interval,
  p_chain_ms  double precision
)
  returns setof worker.condition
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select 'too_slow', true,
           jsonb_build_object('expected_seconds', (p_dt).expected_ms / 1000, 'chain_seconds', p_chain_ms / 1000,
                              'target_seconds', extract(epoch from p_lag)),
           format('Refreshing it and what it reads takes about %s, so its data become %s old; its target lag is %s.',
                  worker.said_span(t.chain), worker.said_span(2 * t.chain), worker.said_span(p_lag)),
           case when (p_dt).target_lag is not null
                then lake.table_command('alter', (p_dt).id) || ' --set '
                     || worker.shell_word(format('TARGET_LAG=%s seconds', ceil(extract(epoch from 2.5 * t.chain)))) end
      from (select make_interval(secs => p_chain_ms / 1000) as chain) as t
     where (p_dt).state = 'active'
       and 2 * t.chain > p_lag;
end;
$$;
