-- said_error: the error of a refresh for people: its code and its text, on one line and not too long.
create or replace function lake.said_error(
  p_code  text,
  p_text  text
)
  returns text
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select concat_ws(': ', p_code,
                   nullif(case when length(t.line) > 300 then left(t.line, 299) || '…' else t.line end, ''))
    from (select btrim(regexp_replace(coalesce(p_text, ''), '\s+', ' ', 'g')) as line) as t
$$;
