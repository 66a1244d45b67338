-- primary_candidates: the units of one table that belong to a unit: when they do, and when they are its primary one.
-- p_flag: the column that says so.
create or replace function register.primary_candidates(
  p_table     text,
  p_flag      text,
  p_owner_id  integer
)
  returns table (id integer, first_day date, times datemultirange, primary_times datemultirange)
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select s.id, min(s.valid_from), range_agg(daterange(s.valid_from, s.valid_until)),
         coalesce(range_agg(daterange(s.valid_from, s.valid_until)) filter (where s.is_primary), '{}')
    from (select l.id, l.valid_from, l.valid_until, l.primary_for_enterprise as is_primary
            from register.legal_unit as l
           where p_table = 'legal_unit' and p_flag = 'primary_for_enterprise' and l.enterprise_id = p_owner_id
          union all
          select e.id, e.valid_from, e.valid_until, e.primary_for_enterprise
            from register.establishment as e
           where p_table = 'establishment' and p_flag = 'primary_for_enterprise' and e.enterprise_id = p_owner_id
          union all
          select e.id, e.valid_from, e.valid_until, e.primary_for_legal_unit
            from register.establishment as e
           where p_table = 'establishment' and p_flag = 'primary_for_legal_unit' and e.legal_unit_id = p_owner_id) as s
   group by s.id;
$$;
