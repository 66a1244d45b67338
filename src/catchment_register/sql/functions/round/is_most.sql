-- is_most: whether deriving all units is less work than finding out what belongs to the given ones: more than half, by
-- the planner's statistics, and not few.
create or replace function register.is_most(
  p_establishment_ids  int4multirange,
  p_legal_unit_ids     int4multirange
)
  returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select n.units > 5000
         and n.units > (select 0.5 * sum(greatest(c.reltuples, 0)) from pg_class as c
                         where c.oid in ('register.legal_unit'::regclass, 'register.establishment'::regclass))
    from (select register.count_ids(p_establishment_ids) + register.count_ids(p_legal_unit_ids) as units) as n;
$$;
