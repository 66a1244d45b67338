-- column_problem: why a statistic (p_table stat_definition) or a type of identifiers (external_ident_type) cannot have
-- this code: codes of both are columns of import files, and a file has something else in that column. null: it can.
create or replace function register.column_problem(
  p_table  text,
  p_code   text
)
  returns text
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with prefix (word) as (values (''), ('legal_unit_'), ('influencing_'), ('influenced_')),
  taken (name, what) as (
    select a.attname::text, 'something else'
      from pg_attribute as a
     where a.attrelid = 'register.import_upload'::regclass
       and a.attnum > 0
       and a.atttypid = 'text'::regtype
    union all
    select d.code, 'the statistic ' || d.code
      from register.stat_definition as d
     where d.enabled
       and (p_table, p_code) <> ('stat_definition', d.code)
    union all
    select p.word || t.code, 'the type of identifiers ' || t.code
      from register.external_ident_type as t
     cross join prefix as p
     where t.enabled
       and (p_table, p_code) <> ('external_ident_type', t.code)
  )
  select format('the column %s of import files is for %s', t.name, t.what)
    from prefix as p
    join taken as t on t.name = p.word || p_code
   where p.word = ''
      or p_table = 'external_ident_type'
   order by p.word, t.what
   limit 1;
$$;
