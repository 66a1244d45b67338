-- row_list: row numbers for a message: the first ten of them.
create or replace function register.row_list(p_rows integer[])
  returns text
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select string_agg(r.row_no::text, ', ' order by r.row_no) filter (where r.n <= 10)
         || case when count(*) > 10 then ', …' else '' end
    from (select d.row_no, row_number() over (order by d.row_no) as n
            from (select distinct unnest(p_rows) as row_no) as d) as r;
$$;
