-- is_zero: whether measures count nothing. Made from the fields of the type, as add_measures is, and inlined for the
-- same reason: therefore without a SET clause. A comparison with a value of the type would make a row of each sum
-- first.
do $do$
begin
  execute format($sql$
create or replace function register.is_zero(p_measures register.measures)
  returns boolean
  language sql immutable parallel safe
as $$
  select %s;
$$
$sql$, (select string_agg(format('p_measures.%I = 0', a.attname), ' and ' order by a.attnum)
          from pg_catalog.pg_attribute as a
         where a.attrelid = 'register.measures'::regclass
           and not a.attisdropped));
end;
$do$;
