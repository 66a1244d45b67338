-- statistical_unit_flush_staging: publish what the batches of a round have staged. Where they have filled the table
-- itself, children build its indexes.
--
--   children  statistical_unit_build_index; the join finish_statistical_unit_flush_staging publishes
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
  if v_round.id is null then
    info := jsonb_build_object('skipped', true);
  elsif register.is_filled_by(v_round.id, 'statistical_unit') then
    perform register.drop_doubles(v_round.id);
    perform register.log_missed(v_round);
    perform worker.spawn_many('statistical_unit_build_index', array(
      select jsonb_build_object('round_id', v_round.id, 'index', i.name)
        from unnest(register.fill_indexes('statistical_unit')) with ordinality as i (name, n)
       order by i.n));
  else
    info := register.publish_units(v_round.id);
  end if;
end;
$$;
