-- derive_statistical_unit_continue: bring planner statistics up to date between the batches and the flush, once a
-- round: batches would wait for each other. Staging always; base tables when a twentieth of them has changed, so that a
-- small round stays small.
--
--   plan    no_jit
create or replace procedure register.derive_statistical_unit_continue(
  payload     jsonb,
  inout info  jsonb
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round  register.round := register.enter_stage(payload, 'derive_statistical_unit_continue');
  v_tables text[];
  v_table  text;
begin
  if v_round.id is null then
    info := jsonb_build_object('skipped', true);
    return;
  end if;
  select array_agg(c.relname::text order by c.relname) into v_tables
    from pg_class as c
    join pg_stat_all_tables as s on s.relid = c.oid
   where c.relnamespace = 'register'::regnamespace
     and c.relkind = 'r'
     and s.n_mod_since_analyze > 0.05 * greatest(c.reltuples, 0) + 1000
     and c.relname in ('enterprise', 'legal_unit', 'establishment', 'activity', 'location', 'contact', 'stat_for_unit',
                       'person_for_unit', 'external_ident', 'tag_for_unit', 'legal_relationship');
  foreach v_table in array coalesce(v_tables, '{}') loop
    execute format('analyze register.%I', v_table);
  end loop;
  -- What the flush joins by; lists and statistics would take most of the time.
  analyze register.statistical_unit_staging (round_id, batch_seq, unit_type, unit_id, valid_from);
  info := jsonb_build_object('round_id', v_round.id,
                             'analyzed', to_jsonb(v_tables || 'statistical_unit_staging'::text));
end;
$$;
