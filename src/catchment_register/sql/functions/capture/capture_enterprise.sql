-- capture_enterprise: log a changed enterprise; it has no dates.
create or replace function register.capture_enterprise()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform register.log_change(p_enterprise_ids => (select range_agg(int4range(c.id, c.id, '[]')) from changed as c));
  return null;
end;
$$;
