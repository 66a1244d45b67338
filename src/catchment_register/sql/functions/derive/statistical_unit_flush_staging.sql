-- statistical_unit_flush_staging: publish what the batches of a round have staged.
--
--   raises  RG009 the round is not open, or not at this stage; RG010 staged rows were lost in a crash
--   plan    no_jit
create or replace procedure register.statistical_unit_flush_staging(
  payload     jsonb,
  inout info  jsonb
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round register.round := register.enter_stage(payload, 'statistical_unit_flush_staging');
begin
  info := case when v_round.id is null then jsonb_build_object('skipped', true)
               else register.publish_units(v_round.id) end;
end;
$$;
