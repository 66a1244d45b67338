-- unit_homes: the enterprise of the latest slice of each unit of a job, null for an establishment of a legal unit.
--
--   plan    indexed
create or replace function register.unit_homes(
  p_mode  text,
  p_ids   integer[]
)
  returns table (unit integer, enterprise_id integer)
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select distinct on (h.unit) h.unit, h.enterprise_id
    from (select l.id as unit, l.valid_from, l.enterprise_id
            from register.legal_unit as l
           where p_mode = 'legal_unit' and l.id = any (p_ids)
          union all
          select e.id, e.valid_from, e.enterprise_id
            from register.establishment as e
           where p_mode like 'establishment%' and e.id = any (p_ids)) as h
   order by h.unit, h.valid_from desc;
$$;
