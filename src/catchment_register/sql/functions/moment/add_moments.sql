-- add_moments: two sets of moments as one; total_moments is the aggregate over any number. An extreme that both have is held by the
-- rows of both. As an aggregate it costs nothing for a group in which only one row has values: it is for groups that are many and
-- small; of few large ones, sum_moments is quicker (8 us for each row it adds; sum_moments takes 3).
create or replace function register.add_moments(
  p_one  register.moment[],
  p_two  register.moment[]
)
  returns register.moment[]
  language plpgsql
  immutable
  strict
  parallel safe
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_one  register.moment;
  v_two  register.moment;
  v_sum  register.moment[];
begin
  if cardinality(p_one) <> cardinality(p_two) then
    return register.add_unlike_moments(p_one, p_two);
  end if;
  for i in 1 .. cardinality(p_one) loop
    v_one := p_one[i];
    v_two := p_two[i];
    if v_one.stat_definition_id <> v_two.stat_definition_id then
      return register.add_unlike_moments(p_one, p_two);
    end if;
    v_sum[i] := row(v_one.stat_definition_id, v_one.n + v_two.n, v_one.total + v_two.total, v_one.squares + v_two.squares,
                    least(v_one.min, v_two.min),
                    case when v_one.min < v_two.min then v_one.min_count
                         when v_two.min < v_one.min then v_two.min_count
                         when v_one.min_count = 0 or v_two.min_count = 0 then 0
                         else coalesce(v_one.min_count, 1) + coalesce(v_two.min_count, 1) end,
                    greatest(v_one.max, v_two.max),
                    case when v_one.max > v_two.max then v_one.max_count
                         when v_two.max > v_one.max then v_two.max_count
                         when v_one.max_count = 0 or v_two.max_count = 0 then 0
                         else coalesce(v_one.max_count, 1) + coalesce(v_two.max_count, 1) end);
  end loop;
  return v_sum;
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
