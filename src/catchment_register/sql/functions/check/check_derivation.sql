-- check_derivation: the differences between the derived tables and a new derivation of everything: rows of each that
-- are on one side only. The derivation happens in a subtransaction that is rolled back, invisible to others. While
-- changes wait for a round, published data are behind: then nothing is compared.
--
--   locks   the round to come: no other can begin meanwhile
--   raises  RG014 another round is open
--   reads   pg_temp.was_history, pg_temp.was_history_facet, pg_temp.was_unit, pg_temp.was_unit_facet
--   writes  pg_temp.was_history, pg_temp.was_history_facet, pg_temp.was_unit, pg_temp.was_unit_facet
--   plan    no_jit, memory_128
create or replace function register.check_derivation()
  returns table (rule text, detail text)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_undo   constant text := 'RG000';
  c_most   constant integer := 20;
  c_period constant text[] := array['@.facet_key', '@.year * 100 + coalesce(@.month, 0)'];
  v_wrong  jsonb;
begin
  if exists (select from register.base_change_log as b where b.round_id is null) then
    return;
  end if;
  perform register.has_scratch('was_unit', 'was_history', 'was_unit_facet', 'was_history_facet');
  begin
    create temporary table was_unit on commit drop as select r.* from register.statistical_unit_row as r;
    create temporary table was_history on commit drop as select r.* from register.statistical_history_row as r;
    create temporary table was_unit_facet on commit drop as select r.* from register.statistical_unit_facet_row as r;
    create temporary table was_history_facet on commit drop as
      select r.* from register.statistical_history_facet_row as r;
    perform register.derive_now('all');
    select jsonb_agg(jsonb_build_object('table', t.name, 'row', d.content - 'moments',
                                        'is', case when d.is_published then 'published' else 'missing' end))
      into v_wrong
      from (values
        ('statistical_unit', 'pg_temp.was_unit', '{@.unit_type,@.unit_id,@.valid_from}'::text[]),
        ('statistical_history', 'pg_temp.was_history', c_period),
        ('statistical_unit_facet', 'pg_temp.was_unit_facet', '{@.facet_key}'),
        ('statistical_history_facet', 'pg_temp.was_history_facet', c_period)) as t (name, was, keys)
     cross join lateral register.row_differences(t.was, format('register.%s_row', t.name), t.keys, c_most) as d;
    raise exception using errcode = c_undo;
  exception
    when sqlstate 'RG000' then
      null;
  end;
  -- What came after the look at the log may have gone into the derivation and not into what was published before it.
  if exists (select from register.base_change_log as b where b.round_id is null) then
    return;
  end if;
  return query
  select 'what is published is what a derivation from scratch gives',
         format('%s: %s %s', d.difference ->> 'table', d.difference ->> 'is', d.difference ->> 'row')
    from jsonb_array_elements(v_wrong) as d (difference);
end;
$$;
