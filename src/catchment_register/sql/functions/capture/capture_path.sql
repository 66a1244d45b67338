-- capture_path: log the units whose region, activity category or sector has a new path. Rows of units hold ids and stay
-- the same, but reports group them by path: those are rebuilt.
create or replace function register.capture_path()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids            integer[];
  v_legal_units    int4multirange;
  v_establishments int4multirange;
begin
  v_ids := array(select c.id from changed as c join was as w on w.id = c.id where c.path <> w.path);
  if v_ids = '{}' then
    return null;
  end if;
  with owner as (
    select l.legal_unit_id, l.establishment_id from register.location as l
     where tg_table_name = 'region' and l.region_id = any (v_ids)
    union all
    select a.legal_unit_id, a.establishment_id from register.activity as a
     where tg_table_name = 'activity_category' and a.category_id = any (v_ids)
    union all
    select u.id, null from register.legal_unit as u where tg_table_name = 'sector' and u.sector_id = any (v_ids)
    union all
    select null, e.id from register.establishment as e where tg_table_name = 'sector' and e.sector_id = any (v_ids)
  )
  select range_agg(int4range(o.establishment_id, o.establishment_id, '[]'))
         filter (where o.establishment_id is not null),
         range_agg(int4range(o.legal_unit_id, o.legal_unit_id, '[]')) filter (where o.legal_unit_id is not null)
    into v_establishments, v_legal_units
    from owner as o;
  perform register.log_change(p_establishment_ids => v_establishments, p_legal_unit_ids => v_legal_units,
                              p_rebuilds_reports => true);
  return null;
end;
$$;
