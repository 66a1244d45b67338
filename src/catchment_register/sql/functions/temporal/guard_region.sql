-- guard_region: refuse a region for an address abroad: regions are those of the home country.
--
--   raises  RG018 an address abroad cannot have a region
--   plan    no_jit
create or replace function register.guard_region()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_wrong text;
begin
  select register.region_problem(coalesce(r.code, r.path), k.iso_2, c.country_id, s.country_id) into v_wrong
    from register.settings as s
    join changed as c on c.country_id <> s.country_id and c.region_id is not null
    join register.region as r on r.id = c.region_id
    join register.country as k on k.id = c.country_id
   limit 1;
  if v_wrong is not null then
    raise exception using
      errcode = 'RG018',
      message = format('location: %s', v_wrong),
      hint = 'Take the region away in the same statement: only addresses in the home country have one.';
  end if;
  return null;
end;
$$;
