-- count_effective: the number of units of a type that a round derives again.
create or replace function register.count_effective(
  p_unit_type  text,
  p_round      register.round
)
  returns integer
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select case
           when p_round.kind <> 'all' then
             register.count_ids(case p_unit_type
                                  when 'establishment' then p_round.effective_establishment_ids
                                  when 'legal_unit'    then p_round.effective_legal_unit_ids
                                  when 'enterprise'    then p_round.effective_enterprise_ids
                                  when 'power_group'   then p_round.effective_power_group_ids
                                end)
           else
             (case p_unit_type
                when 'establishment' then (select count(distinct e.id) from register.establishment as e)
                when 'legal_unit'    then (select count(distinct u.id) from register.legal_unit as u)
                when 'enterprise'    then (select count(*) from register.enterprise as e)
                when 'power_group'   then (select count(*) from register.power_group as g)
              end)::integer
         end;
$$;
