-- period_problem: a problem of a row's time, reported under the columns of its dates; under the whole row where the job
-- has the dates.
create or replace function register.period_problem(
  p_snapshot  jsonb,
  p_message   text
)
  returns jsonb
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select case when p_message is null then null
              when p_snapshot ->> 'valid_time_from' = 'source_columns'
              then jsonb_build_object('valid_from', p_message, 'valid_to', p_message)
              else jsonb_build_object('*', p_message) end;
$$;
