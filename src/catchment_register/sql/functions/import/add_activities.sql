-- add_activities: activities that are not in the list of a standard are added under their division, if the standard
-- says that the digits tell the place. Others stay unknown. Import and edit know the same activities by this. Sections
-- and divisions have names; what is finer is called by its code until a list is loaded.
--
--   locks   nothing that another session would wait for long: rows that another one adds at the same moment are left to
--           it
--   returns how many rows the list got, those above the codes included
--   plan    indexed
create or replace function register.add_activities(
  p_standard_id  integer,
  p_codes        text[]
)
  returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_standard register.activity_category_standard;
  v_added    integer;
begin
  select s.* into v_standard from register.activity_category_standard as s where s.id = p_standard_id;
  if not found or not v_standard.derives_path then
    return 0;
  end if;
  insert into register.activity_category (standard_id, path, code, name)
  select distinct v_standard.id, p.path, c.code, coalesce(register.activity_name(p.path), c.code)
    from (select distinct register.activity_key(v.code) as digits from unnest(p_codes) as v (code)
           where v.code ~ '^[0-9][0-9. ]*$') as d
   cross join lateral (select register.activity_path(d.digits) as path) as f
   cross join lateral (select array_to_string((string_to_array(f.path, '.'))[:n], '.') as path
                         from generate_series(1, cardinality(string_to_array(f.path, '.'))) as n) as p
   cross join lateral (select register.activity_code(p.path, v_standard.code_pattern) as code) as c
   where not exists (select from register.activity_category as a
                      where a.standard_id = v_standard.id and a.code_key = d.digits and a.enabled)
  on conflict (standard_id, path) do nothing;
  get diagnostics v_added = row_count;
  return v_added;
end;
$$;
