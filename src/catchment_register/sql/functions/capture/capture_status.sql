-- capture_status: log the units whose status began or ceased to count.
create or replace function register.capture_status()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids integer[];
begin
  v_ids := array(select c.id from changed as c join was as w on w.id = c.id
                  where c.used_for_counting <> w.used_for_counting);
  if v_ids = '{}' then
    return null;
  end if;
  perform register.log_change(
    p_establishment_ids => (select range_agg(int4range(e.id, e.id, '[]')) from register.establishment as e
                             where e.status_id = any (v_ids)),
    p_legal_unit_ids    => (select range_agg(int4range(u.id, u.id, '[]')) from register.legal_unit as u
                             where u.status_id = any (v_ids)));
  return null;
end;
$$;
