-- capture_establishment: log changed slices of establishments, with their legal units and enterprises. Numbers are
-- sorted faster than ranges.
create or replace function register.capture_establishment()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform register.log_change(
    p_establishment_ids => (select range_agg(int4range(c.id, c.id, '[]')) from changed as c),
    p_legal_unit_ids    => (select range_agg(int4range(o.legal_unit_id, o.legal_unit_id, '[]') order by o.legal_unit_id)
                              from (select distinct c.legal_unit_id from changed as c) as o
                             where o.legal_unit_id is not null),
    p_enterprise_ids    => (select range_agg(int4range(o.enterprise_id, o.enterprise_id, '[]') order by o.enterprise_id)
                              from (select distinct c.enterprise_id from changed as c) as o
                             where o.enterprise_id is not null),
    p_valid_ranges      => (select range_agg(daterange(v.valid_from, v.valid_until))
                              from (select distinct c.valid_from, c.valid_until from changed as c) as v));
  return null;
end;
$$;
