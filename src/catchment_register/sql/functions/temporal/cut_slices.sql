-- cut_slices: remove a period from the slices of some owners. The time before and after it stays. p_filter: only rows
-- with these values, as {"type": "primary"}. Returns the number of changed slices.
--
--   locks   the slices
--   raises  RG003 other rows depend on the row in that period
create or replace function register.cut_slices(
  p_table        text,
  p_owner        text,
  p_ids          integer[],
  p_valid_from   date default '-infinity',
  p_valid_until  date default 'infinity',
  p_filter       jsonb default '{}'
)
  returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_columns text;
  v_count   integer;
begin
  select string_agg(format('%I', a.attname), ', ' order by a.attnum) into v_columns
    from pg_attribute as a
   where a.attrelid = format('register.%I', p_table)::regclass
     and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     and a.attname not in ('valid_from', 'valid_until');
  execute format(
    'with gone as (
       delete from register.%1$I as t
        where %2$s t.%3$I = any ($1) and t.valid_from < $3 and $2 < t.valid_until and to_jsonb(t) @> $4
       returning *
     ),
     kept as (
       insert into register.%1$I (%4$s, valid_from, valid_until)
       select %4$s, v.valid_from, v.valid_until
         from gone as g
        cross join lateral (values (g.valid_from, least(g.valid_until, $2)),
                            (greatest(g.valid_from, $3), g.valid_until))
                           as v (valid_from, valid_until)
        where v.valid_from < v.valid_until and (select count(*) from gone) > 0
     )
     select count(*) from gone',
    p_table,
    (select string_agg(format('t.%I is null and', o), ' ')
       from register.temporal_table as t cross join lateral unnest(t.owner_columns) as o
      where t.table_name = p_table and o <> p_owner and cardinality(t.owner_columns) > 1),
    p_owner, v_columns)
    into v_count
   using p_ids, p_valid_from, p_valid_until, p_filter;
  return v_count;
end;
$$;
