-- history_facts: the facts of the cells of a round by period. Only this function has these rules.
--
-- A unit's current row in a period is the latest that has a day in it; its previous row is the latest that began by the
-- end of the period before and has a day in that one or this. A row is in stock at the end of a period if it is valid
-- on its last day, and the unit is born and not dead by then. A unit has a fact in a period if its current row is in
-- stock at the period's end or its previous row at the end of the one before; other units count nowhere. Only rows used
-- for counting have births, deaths, changes and values; a unit that died in the period still has values. Cells that
-- stand for many units have one row each, which is both current and previous. Of units with several rows the two are
-- brought together here. p_is_lookup: cells that were collected to look up extremes. Inlined, therefore without a SET
-- clause.
create or replace function register.history_facts(
  p_round_id   bigint,
  p_report     text,
  p_is_lookup  boolean,
  p_periods    register.period[]
)
  returns table (
    period_key integer, sign smallint, amount integer, facet_key uuid, unit_type text,
    primary_activity_category_path text, secondary_activity_category_path text, sector_path text, legal_form_id integer,
    physical_region_path text, physical_country_id integer, unit_size_id integer, status_id integer,
    in_stock boolean, was_in_stock boolean, counts boolean, counted boolean, is_birth boolean, is_death boolean,
    has_name_change boolean, has_primary_change boolean, has_secondary_change boolean, has_sector_change boolean,
    has_form_change boolean, has_region_change boolean, has_country_change boolean, has_address_change boolean,
    has_size_change boolean, has_status_change boolean, moments register.moment[], value_counts jsonb
  )
  language sql stable
as $$
  with role as not materialized (
    select p.year * 100 + coalesce(p.month, 0) as period_key, p.first_day, p.last_day, r.is_current, r.is_previous,
           r.is_current and c.valid_until > p.last_day and coalesce(c.birth_key, c.valid_from) <= p.last_day
             and coalesce(c.death_key > p.last_day, true) as in_stock,
           r.is_previous and c.valid_until > p.prev_last and coalesce(c.birth_key, c.valid_from) <= p.prev_last
             and coalesce(c.death_key > p.prev_last, true) as was_in_stock,
           c.*
      from unnest(p_periods) as p
      join register.report_cell as c
        on c.valid_from <= p.last_day
       and c.valid_until > p.prev_first
     cross join lateral (
       select c.next_from > p.last_day and c.valid_until > p.first_day as is_current,
              c.valid_from <= p.prev_last and c.next_from > p.prev_last as is_previous
     ) as r
     where c.round_id = p_round_id
       and c.report = p_report
       and (c.partition_seq < 0) = p_is_lookup
  ),
  single as not materialized (
    select r.* from role as r where r.unit_id is not null and r.is_current <> r.is_previous
  )
  select r.period_key, r.sign, r.sign * r.weight, r.facet_key, r.unit_type,
         r.primary_activity_category_path, r.secondary_activity_category_path, r.sector_path, r.legal_form_id,
         r.physical_region_path, r.physical_country_id, r.unit_size_id, r.status_id,
         r.in_stock, r.was_in_stock, r.in_stock and r.used_for_counting, r.was_in_stock and r.used_for_counting,
         coalesce(r.is_current and r.used_for_counting and r.birth_key between r.first_day and r.last_day, false),
         coalesce(r.is_current and r.used_for_counting and r.death_key between r.first_day and r.last_day, false),
         false, false, false, false, false, false, false, false, false, false,
         case when r.is_current and r.used_for_counting then r.moments end,
         case when r.is_current and r.used_for_counting then r.value_counts end
    from role as r
   where (r.unit_id is null or r.is_current = r.is_previous)
     and (r.in_stock or r.was_in_stock)
  union all
  select coalesce(k.period_key, v.period_key), coalesce(k.sign, v.sign), coalesce(k.sign, v.sign),
         case when k.unit_id is not null then k.facet_key else v.facet_key end, coalesce(k.unit_type, v.unit_type),
         case when k.unit_id is not null then k.primary_activity_category_path
              else v.primary_activity_category_path end,
         case when k.unit_id is not null then k.secondary_activity_category_path
              else v.secondary_activity_category_path end,
         case when k.unit_id is not null then k.sector_path else v.sector_path end,
         case when k.unit_id is not null then k.legal_form_id else v.legal_form_id end,
         case when k.unit_id is not null then k.physical_region_path else v.physical_region_path end,
         case when k.unit_id is not null then k.physical_country_id else v.physical_country_id end,
         case when k.unit_id is not null then k.unit_size_id else v.unit_size_id end,
         case when k.unit_id is not null then k.status_id else v.status_id end,
         coalesce(k.in_stock, false), coalesce(v.was_in_stock, false),
         coalesce(k.in_stock and k.used_for_counting, false), coalesce(v.was_in_stock and v.used_for_counting, false),
         coalesce(k.used_for_counting and k.birth_key between k.first_day and k.last_day, false),
         coalesce(k.used_for_counting and k.death_key between k.first_day and k.last_day, false),
         b.count and k.name is distinct from v.name,
         b.count and k.primary_activity_category_path is distinct from v.primary_activity_category_path,
         b.count and k.secondary_activity_category_path is distinct from v.secondary_activity_category_path,
         b.count and k.sector_path is distinct from v.sector_path,
         b.count and k.legal_form_id is distinct from v.legal_form_id,
         b.count and k.physical_region_path is distinct from v.physical_region_path,
         b.count and k.physical_country_id is distinct from v.physical_country_id,
         b.count and k.address_key is distinct from v.address_key,
         b.count and k.unit_size_id is distinct from v.unit_size_id,
         b.count and k.status_id is distinct from v.status_id,
         case when k.used_for_counting then k.moments end,
         case when k.used_for_counting then k.value_counts end
    from (select s.* from single as s where s.is_current) as k
    full join (select s.* from single as s where s.is_previous) as v
      on v.period_key = k.period_key
     and v.flush_id = k.flush_id
     and v.sign = k.sign
     and v.unit_type = k.unit_type
     and v.unit_id = k.unit_id
   cross join lateral (
     select coalesce(k.in_stock and v.was_in_stock and k.used_for_counting and v.used_for_counting, false) as count
   ) as b
   where coalesce(k.in_stock, false)
      or coalesce(v.was_in_stock, false);
$$;
