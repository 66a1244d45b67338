-- add_moments: two sets of moments as one; total_moments is the aggregate over any number. Sets are in the order of
-- their variables, so that one walk through both finds what they share. As an aggregate it costs nothing for a group in
-- which only one row has values: it is for groups that are many and small; of few large ones, sum_moments is quicker.
create or replace function register.add_moments(
  p_one  register.moment[],
  p_two  register.moment[]
)
  returns register.moment[]
  language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_one  integer := 1;
  v_two  integer := 1;
  v_sum  register.moment[];
begin
  -- Mostly there is one variable: no need to walk.
  if cardinality(p_one) = 1 and cardinality(p_two) = 1
     and (p_one[1]).stat_definition_id = (p_two[1]).stat_definition_id then
    return array[register.add_moment(p_one[1], p_two[1])];
  end if;
  while v_one <= cardinality(p_one) and v_two <= cardinality(p_two) loop
    if (p_one[v_one]).stat_definition_id = (p_two[v_two]).stat_definition_id then
      v_sum := v_sum || register.add_moment(p_one[v_one], p_two[v_two]);
      v_one := v_one + 1;
      v_two := v_two + 1;
    elsif (p_one[v_one]).stat_definition_id < (p_two[v_two]).stat_definition_id then
      v_sum := v_sum || p_one[v_one];
      v_one := v_one + 1;
    else
      v_sum := v_sum || p_two[v_two];
      v_two := v_two + 1;
    end if;
  end loop;
  return v_sum || p_one[v_one:] || p_two[v_two:];
end;
$$;

do $$
begin
  if not exists (select from pg_catalog.pg_aggregate as a
                   join pg_catalog.pg_proc as p on p.oid = a.aggfnoid
                  where p.pronamespace = 'register'::regnamespace and p.proname = 'total_moments') then
    create aggregate register.total_moments (register.moment[]) (
      sfunc = register.add_moments, stype = register.moment[], parallel = safe);
  end if;
end;
$$;
