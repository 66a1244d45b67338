-- rate_reached: the condition of a task that a rate lets start only later. p_tokens starts are allowed now, p_ahead
-- tasks take them first. See explain.
create or replace function worker.rate_reached(
  p_kind      text,
  p_whose     text,
  p_rate      integer,
  p_per       interval,
  p_tokens    double precision,
  p_ahead     bigint,
  p_evidence  jsonb,
  p_now       timestamptz
)
  returns worker.condition
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select p_kind, true,
         p_evidence || jsonb_build_object('rate', p_rate, 'rate_per', p_per, 'ahead', p_ahead, 'next_at', n.at),
         format('%s starts at most %s in %s; this one may start at %s.', p_whose, worker.said_count(p_rate, 'task'),
                worker.said_span(p_per), worker.said_when(n.at, p_now)),
         null
    from (select p_now + p_per / p_rate * greatest(p_ahead + 1 - p_tokens, 0.001) as at) as n;
$$;
