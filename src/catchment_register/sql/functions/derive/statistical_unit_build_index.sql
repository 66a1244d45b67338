-- statistical_unit_build_index: build one index of the units that batches have filled in.
--
--   plan    no_jit
create or replace procedure register.statistical_unit_build_index(
  payload     jsonb,
  inout info  jsonb
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform register.build_index(payload ->> 'index');
  info := '{}';
end;
$$;
