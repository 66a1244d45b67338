-- recount_used: count in all units how many rows name each code; a row that names one twice counts once. What is
-- counted right is not touched.
--
--   plan    no_jit, memory_128
create or replace function register.recount_used()
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  with counted as (
    select r.primary_activity_category_id as a1, x.a2, r.physical_region_id as r1, x.r2, r.sector_id as s,
           r.legal_form_id as f, r.physical_country_id as c1, x.c2, r.data_source_ids as d, count(*) as n
      from register.statistical_unit_row as r
     cross join lateral (
       select nullif(r.secondary_activity_category_id, r.primary_activity_category_id) as a2,
              nullif(r.postal_region_id, r.physical_region_id) as r2,
              nullif(r.postal_country_id, r.physical_country_id) as c2) as x
     group by grouping sets ((r.primary_activity_category_id), (x.a2), (r.physical_region_id), (x.r2), (r.sector_id),
                             (r.legal_form_id), (r.physical_country_id), (x.c2), (r.data_source_ids))
  ),
  used as materialized (
    select u.kind collate "C" as kind, u.code_id, sum(c.n)::bigint as row_count
      from counted as c
     cross join lateral (
       values ('activity', c.a1), ('activity', c.a2), ('region', c.r1), ('region', c.r2), ('sector', c.s),
              ('legal_form', c.f), ('country', c.c1), ('country', c.c2)
       union all
       select 'data_source', d.id from unnest(c.d) as d (id)) as u (kind, code_id)
     where u.code_id is not null
     group by u.kind, u.code_id
  ),
  gone as (
    delete from register.used_code as o
     where not exists (select from used as u where u.kind = o.kind and u.code_id = o.code_id)
  )
  insert into register.used_code as o (kind, code_id, row_count)
  select u.kind, u.code_id, u.row_count from used as u
  on conflict (kind, code_id) do update set row_count = excluded.row_count where o.row_count <> excluded.row_count;
end;
$$;
