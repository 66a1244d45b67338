-- publish_units: publish what a round has staged. Units of the round without a staged row are deleted; unchanged rows
-- are not touched. The differences are stored for the reports, unless so much changed that a rebuild is cheaper. A
-- round of kind all counts the codes in use again, whatever it finds. p_is_settled: drop_doubles and log_missed have
-- run.
--
--   raises  RG010 staged rows were lost in a crash
--   plan    no_jit, memory_256
create or replace function register.publish_units(
  p_round_id    bigint,
  p_is_settled  boolean default false
)
  returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round    register.round;
  v_flush_id bigint := nextval('register.flush_id');
  v_staged   bigint := register.count_staged(p_round_id);
  v_changed  bigint;
  v_deleted  bigint := 0;
  v_inserted bigint;
  v_rebuild  boolean;
begin
  select r.* into v_round from register.round as r where r.id = p_round_id;
  if not p_is_settled then
    perform register.drop_doubles(p_round_id);
    perform register.log_missed(v_round);
  end if;
  if register.is_filled_by(p_round_id, 'statistical_unit')
     or not exists (select from register.statistical_unit_row) then
    v_inserted := register.publish_first(p_round_id);
    v_changed := null;
    v_rebuild := v_inserted > 0;
  else
    v_changed := register.find_differences(v_round);
    v_rebuild := register.is_worth_rebuild(v_changed, v_staged);
    if not v_rebuild and v_changed > 0 then
      perform register.note_differences(p_round_id, v_flush_id);
    end if;
    if v_changed > 0 then
      select d.deleted, d.inserted into v_deleted, v_inserted from register.replace_units(p_round_id) as d;
    end if;
  end if;

  if v_rebuild then
    -- Reports that are rebuilt need no differences, and older ones must not be applied after that.
    update register.report_state as s set applied_flush_id = null where s.applied_flush_id is not null;
    delete from register.statistical_unit_change;
    delete from register.statistical_unit_facet_dirty_partitions;
  end if;
  if v_rebuild or v_round.kind = 'all' then
    perform register.recount_used();
  elsif v_changed > 0 then
    perform register.count_used(v_flush_id);
  end if;
  perform register.empty_staging(p_round_id);
  update register.round as r
     set flushed_at = clock_timestamp(), flush_id = v_flush_id, rebuild = r.rebuild or v_rebuild
   where r.id = p_round_id;
  return jsonb_build_object('round_id', p_round_id, 'staged', v_staged, 'units_changed', v_changed,
                            'deleted', v_deleted, 'inserted', coalesce(v_inserted, 0), 'rebuild', v_rebuild);
end;
$$;
