-- add_measures: the measures of two groups as those of one, field by field; what a change takes away is negative. Made
-- from the fields of the type. Inlined, so that they are taken where they lie: therefore without a SET clause. As the
-- step of an aggregate it would not be, and cost eight times what sums cost.
do $do$
begin
  execute format($sql$
create or replace function register.add_measures(
  p_one  register.measures,
  p_two  register.measures
)
  returns register.measures
  language sql immutable parallel safe
as $$
  select row(%s)::register.measures;
$$
$sql$, (select string_agg(format('p_one.%1$I + p_two.%1$I', a.attname), ', ' order by a.attnum)
          from pg_catalog.pg_attribute as a
         where a.attrelid = 'register.measures'::regclass
           and not a.attisdropped));
end;
$do$;
