-- ensure_activities: activities that a file names and the standard lacks are added, see add_activities. Others stay
-- unknown, and become warnings of their rows.
--
--   plan    indexed
create or replace function register.ensure_activities(p_job_id integer)
  returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  return register.add_activities(
    (select (j.snapshot ->> 'standard_id')::integer from register.import_job as j where j.id = p_job_id),
    array(select distinct v.code
            from (select distinct u.primary_activity_category_code as first,
                         u.secondary_activity_category_code as second
                    from register.import_upload as u
                   where u.job_id = p_job_id) as u
           cross join lateral (values (u.first), (u.second)) as v (code)));
end;
$$;
