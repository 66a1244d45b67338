-- row_differences: rows of two tables of the same columns that are in one of them only, or differ; at most p_most of
-- each, as JSON. p_keys: the columns that identify a row. Of moments it does not matter how many rows hold an extreme.
-- For check_derivation, which knows the names.
create or replace function register.row_differences(
  p_was   text,
  p_now   text,
  p_keys  text[],
  p_most  integer
)
  returns table (is_published boolean, content jsonb)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_columns text[] := array(select a.attname from pg_attribute as a
                             where a.attrelid = p_now::regclass and a.attnum > 0 and not a.attisdropped
                               and a.attname <> 'moments'
                             order by a.attnum);
begin
  -- Compared as they are: only what differs becomes JSON.
  return query execute format(
    $sql$
    select x.is_published, x.content
      from (select s.is_published, s.content, row_number() over (partition by s.is_published) as n
              from (select w as was, n as now
                      from %1$s as w
                      full join %2$s as n on (%3$s) = (%4$s)
                     where row(%5$s) is distinct from row(%6$s)
                        or w.moments is distinct from n.moments
                       and register.plain_moments(w.moments) is distinct from register.plain_moments(n.moments)) as d
             cross join lateral (values (true, to_jsonb(d.was)), (false, to_jsonb(d.now))) as s (is_published, content)
             where s.content is not null) as x
     where x.n <= $1
    $sql$,
    p_was, p_now,
    (select string_agg(replace(k, '@', 'w'), ', ' order by n) from unnest(p_keys) with ordinality as u (k, n)),
    (select string_agg(replace(k, '@', 'n'), ', ' order by n) from unnest(p_keys) with ordinality as u (k, n)),
    (select string_agg(format('w.%I', c), ', ') from unnest(v_columns) as c),
    (select string_agg(format('n.%I', c), ', ') from unnest(v_columns) as c))
    using p_most;
end;
$$;
