-- merged_value: the new value of a column in a piece of time: an expression over the old slice b and the source rows s
-- that cover it. replace: what the last source row says, also null; update: the last value that a source row has, else
-- the old one. A kept column stays, and continues as in the latest slice k; a source row only gives the first one. A
-- cleared one is null wherever a source row is.
create or replace function register.merged_value(
  p_column  text,
  p_mode    text,
  p_keeps   boolean,
  p_clears  boolean
)
  returns text
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select format(
    case when p_clears
           then 'case when count(s.row_no) = 0 then (array_agg(b.%1$I))[1] end'
         when p_keeps
           then 'case when count(b.valid_from) > 0 then (array_agg(b.%1$I))[1]
                      when count(k.valid_from) > 0 then (array_agg(k.%1$I))[1]
                      else (array_agg(s.%1$I order by s.row_no desc) filter (where s.%1$I is not null))[1] end'
         when p_mode = 'replace'
           then 'case when count(s.row_no) > 0 then (array_agg(s.%1$I order by s.row_no desc))[1] else '
                '(array_agg(b.%1$I))[1] end'
         when p_mode = 'update'
           then 'coalesce((array_agg(s.%1$I order by s.row_no desc) filter (where s.%1$I is not null))[1], '
                '(array_agg(b.%1$I))[1])'
    end, p_column);
$$;
