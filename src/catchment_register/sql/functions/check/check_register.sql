-- check_register: every violated rule, with the rows that violate it. With p_deep, everything is also derived again and
-- compared with the published data: as much work as a full derivation, and all of it is undone.
create or replace function register.check_register(p_deep boolean default false)
  returns table (rule text, detail text)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- One statement, so that all of it sees the same moment.
  return query
  select c.rule, c.detail from register.check_base() as c
  union all
  select c.rule, c.detail from register.check_units() as c
  union all
  select c.rule, c.detail from register.check_power_groups() as c
  union all
  select c.rule, c.detail from register.check_reports() as c
  union all
  select c.rule, c.detail from register.check_rounds() as c;
  if p_deep then
    return query select c.rule, c.detail from register.check_derivation() as c;
  end if;
end;
$$;
