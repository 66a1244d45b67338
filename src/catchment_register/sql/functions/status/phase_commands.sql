-- phase_commands: the commands of a phase of derivation, units or reports, children included.
create or replace function register.phase_commands(p_phase text)
  returns text[]
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select array_agg(w.step order by w.seq)
         || case p_phase
              when 'units' then array['statistical_unit_refresh_batch', 'statistical_unit_build_index']
              when 'reports' then array['derive_statistical_history_period', 'derive_statistical_unit_facet_partition',
                                        'derive_statistical_history_facet_period']
            end
    from register.pipeline_step_weight as w
   where w.phase = p_phase;
$$;
