-- add_counts: two sets of counted values as one; total_counts is the aggregate over any number.
create or replace function register.add_counts(
  p_one  jsonb,
  p_two  jsonb
)
  returns jsonb
  language sql immutable strict parallel safe set search_path = pg_catalog, pg_temp
as $$
  select register.sum_counts(p_one, p_two, null);
$$;

do $$
begin
  if not exists (select from pg_catalog.pg_aggregate as a
                   join pg_catalog.pg_proc as p on p.oid = a.aggfnoid
                  where p.pronamespace = 'register'::regnamespace and p.proname = 'total_counts') then
    create aggregate register.total_counts (jsonb) (sfunc = register.add_counts, stype = jsonb, parallel = safe);
  end if;
end;
$$;
