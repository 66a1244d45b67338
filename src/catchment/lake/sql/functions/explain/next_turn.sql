-- next_turn: when the next turn of a table comes, as due decides it; p_now if it has come. A round of a table that
-- reads it may be earlier.
create or replace function lake.next_turn(
  p_dt_id     bigint,
  p_lag       interval,
  p_chain_ms  double precision,
  p_now       timestamptz
)
  returns timestamptz
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return (select greatest(p_now,
                            least(to_timestamp((floor(extract(epoch from t.tried_at)::double precision / t.seconds) + 1)
                                               * t.seconds),
                                  t.tried_at + p_lag - make_interval(secs => 1.5 + p_chain_ms / 1000)))
              from (select lake.period(p_lag, p_chain_ms) as seconds,
                           greatest(case when f.data_at <= p_now then f.data_at end,
                                    case when d.last_attempt_at <= p_now then d.last_attempt_at end) as tried_at
                      from lake.dt as d
                      join lake.frontier as f on f.dt_id = d.id
                     where d.id = p_dt_id) as t);
end;
$$;
