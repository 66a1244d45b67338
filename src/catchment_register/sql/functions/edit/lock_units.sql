-- lock_units: lock these units and everything that belongs to them against other writers until the transaction ends.
--
--   locks   slices of the establishments, then of the legal units, by id and start
create or replace function register.lock_units(
  p_legal_unit_ids     integer[],
  p_establishment_ids  integer[]
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  perform from register.establishment as e
    where e.id = any (p_establishment_ids) order by e.id, e.valid_from for no key update;
  perform from register.legal_unit as l
    where l.id = any (p_legal_unit_ids) order by l.id, l.valid_from for no key update;
end;
$$;
