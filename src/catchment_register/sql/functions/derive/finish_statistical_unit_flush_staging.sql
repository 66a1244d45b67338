-- finish_statistical_unit_flush_staging: all indexes are built: publish the units.
--
--   plan    no_jit
create or replace procedure register.finish_statistical_unit_flush_staging(
  payload     jsonb,
  inout info  jsonb
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  info := register.publish_units((payload ->> 'round_id')::bigint, p_is_settled => true);
end;
$$;
