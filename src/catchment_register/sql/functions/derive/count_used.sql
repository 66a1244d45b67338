-- count_used: update the counts of used codes by the differences of a flush. The row of a code that is no longer used
-- is deleted. If a count would become negative, it was wrong before: then all are counted again.
--
--   plan    no_jit
create or replace function register.count_used(p_flush_id bigint)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  merge into register.used_code as u
  using (
    select v.kind collate "C" as kind, v.code_id, sum(c.sign) as change
      from register.statistical_unit_change as c
     cross join lateral (
        values ('activity', c.primary_activity_category_id),
               ('activity', nullif(c.secondary_activity_category_id, c.primary_activity_category_id)),
               ('region', c.physical_region_id),
               ('region', nullif(c.postal_region_id, c.physical_region_id)),
               ('sector', c.sector_id),
               ('legal_form', c.legal_form_id),
               ('country', c.physical_country_id),
               ('country', nullif(c.postal_country_id, c.physical_country_id))) as v (kind, code_id)
     where c.flush_id = p_flush_id
       and v.code_id is not null
     group by v.kind, v.code_id
    having sum(c.sign) <> 0
    union all
    select 'data_source', d.id, sum(c.sign)
      from register.statistical_unit_change as c
     cross join lateral unnest(c.data_source_ids) as d (id)
     where c.flush_id = p_flush_id
     group by d.id
    having sum(c.sign) <> 0
  ) as n on u.kind = n.kind and u.code_id = n.code_id
  when matched and u.row_count + n.change = 0 then
    delete
  when matched then
    update set row_count = u.row_count + n.change
  when not matched then
    insert (kind, code_id, row_count) values (n.kind, n.code_id, n.change);
exception
  when check_violation then
    perform register.recount_used();
end;
$$;
