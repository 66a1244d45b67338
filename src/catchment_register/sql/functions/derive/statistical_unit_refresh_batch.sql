-- statistical_unit_refresh_batch: derive one batch of a round.
--
--   plan    no_jit
create or replace procedure register.statistical_unit_refresh_batch(
  payload     jsonb,
  inout info  jsonb
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  info := jsonb_build_object('staged_rows', register.refresh_batch(
    (payload ->> 'round_id')::bigint, (payload ->> 'batch_seq')::integer,
    coalesce((payload ->> 'enterprise_ids')::int4multirange, '{}'),
    coalesce((payload ->> 'power_group_ids')::int4multirange, '{}')));
  perform register.notify_progress();
end;
$$;
