-- trimmed: the changes of an edit with their texts as cells of import files are read: without blanks around them.
create or replace function register.trimmed(p_changes jsonb)
  returns jsonb
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_object_agg(c.key, case jsonb_typeof(c.value)
                                            when 'string' then to_jsonb(btrim(c.value #>> '{}', E' \t\n\r\f\v\u00a0'))
                                            else c.value end),
                  '{}')
    from jsonb_each(p_changes) as c;
$$;
