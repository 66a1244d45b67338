-- activity_path: the path of an activity by the digits of its code: 45112 -> G.45.1.1.2. The section follows from the
-- division, the first two digits. Null where there is no such division.
create or replace function register.activity_path(p_digits text)
  returns text
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select s.section || '.' || left(p_digits, 2)
         || coalesce((select string_agg('.' || substr(p_digits, n, 1), '' order by n)
                        from generate_series(3, length(p_digits)) as n), '')
    from (values (1, 3, 'A'), (5, 9, 'B'), (10, 33, 'C'), (35, 35, 'D'), (36, 39, 'E'), (41, 43, 'F'), (45, 47, 'G'),
                 (49, 53, 'H'), (55, 56, 'I'), (58, 63, 'J'), (64, 66, 'K'), (68, 68, 'L'), (69, 75, 'M'),
                 (77, 82, 'N'), (84, 84, 'O'), (85, 85, 'P'), (86, 88, 'Q'), (90, 93, 'R'), (94, 96, 'S'),
                 (97, 98, 'T'), (99, 99, 'U'))
         as s (first, last, section)
   where p_digits ~ '^[0-9]{2,6}$'
     and left(p_digits, 2)::integer between s.first and s.last;
$$;
