-- finish_statistical_history: all periods are staged: publish them.
--
--   plan    no_jit
create or replace procedure register.finish_statistical_history(
  payload     jsonb,
  inout info  jsonb
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  info := register.publish_history((payload ->> 'round_id')::bigint, 'history');
end;
$$;
