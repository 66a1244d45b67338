-- capture_legal_unit: log changed slices of legal units, with their enterprises.
create or replace function register.capture_legal_unit()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform register.log_change(
    p_legal_unit_ids => (select range_agg(int4range(c.id, c.id, '[]')) from changed as c),
    p_enterprise_ids => (select range_agg(int4range(c.enterprise_id, c.enterprise_id, '[]')) from changed as c),
    p_valid_ranges   => (select range_agg(daterange(v.valid_from, v.valid_until))
                           from (select distinct c.valid_from, c.valid_until from changed as c) as v));
  return null;
end;
$$;
