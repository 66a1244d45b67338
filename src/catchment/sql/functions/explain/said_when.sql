-- said_when: a time for people, the same in every session: in UTC, with its distance from p_now.
create or replace function worker.said_when(
  p_at   timestamptz,
  p_now  timestamptz
)
  returns text
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  -- Before PostgreSQL 17, infinity has no distance from anything.
  select case when isfinite(p_at) then to_char(p_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC (' || case
                when p_at <= p_now then worker.said_span(p_now - p_at) || ' ago'
                else 'in ' || worker.said_span(p_at - p_now)
              end || ')' else p_at::text end;
$$;
