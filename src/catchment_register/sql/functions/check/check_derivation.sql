-- check_derivation: in what the derived tables differ from a derivation of everything anew, in rows of each that are on one side
-- only. The derivation happens in a subtransaction that is taken back; nobody else sees any of it. While changes wait to be taken
-- by a round, what is published is behind: then there is nothing to compare.
--
--   locks   the round to come: no other can begin meanwhile
--   raises  RG009 while a round is open
--   reads   pg_temp.was_facet, pg_temp.was_history, pg_temp.was_history_facet, pg_temp.was_unit
--   writes  pg_temp.was_facet, pg_temp.was_history, pg_temp.was_history_facet, pg_temp.was_unit
--   plan    no_jit, memory_128
create or replace function register.check_derivation()
  returns table (rule text, detail text)
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  c_undo  constant text := 'RG000';
  v_found jsonb;
begin
  if exists (select from register.base_change_log as b where b.round_id is null) then
    return;
  end if;
  begin
    create temporary table was_unit on commit drop as
      select to_jsonb(u) as row from register.statistical_unit_row as u;
    create temporary table was_history on commit drop as
      select to_jsonb(h) - 'moments' as row, register.plain_moments(h.moments) as moments
        from register.statistical_history_row as h;
    create temporary table was_facet on commit drop as
      select to_jsonb(f) - 'moments' as row, register.plain_moments(f.moments) as moments
        from register.statistical_unit_facet_row as f;
    create temporary table was_history_facet on commit drop as
      select to_jsonb(h) - 'moments' as row, register.plain_moments(h.moments) as moments
        from register.statistical_history_facet_row as h;
    perform register.derive_now('all');
    select jsonb_agg(d.found) into v_found
      from (
        (select jsonb_build_object('table', 'statistical_unit', 'row', w.row, 'is', 'published') as found
           from (select row from pg_temp.was_unit except all select to_jsonb(u) from register.statistical_unit_row as u) as w limit 20)
        union all
        (select jsonb_build_object('table', 'statistical_unit', 'row', n.row, 'is', 'missing')
           from (select to_jsonb(u) as row from register.statistical_unit_row as u except all select row from pg_temp.was_unit) as n
          limit 20)
        union all
        (select jsonb_build_object('table', 'statistical_history', 'row', w.row, 'is', 'published')
           from (select row, moments from pg_temp.was_history
                 except all
                 select to_jsonb(x) - 'moments', register.plain_moments(x.moments)
                   from register.statistical_history_row as x) as w
          limit 20)
        union all
        (select jsonb_build_object('table', 'statistical_history', 'row', n.row, 'is', 'missing')
           from (select to_jsonb(x) - 'moments' as row, register.plain_moments(x.moments) as moments
                   from register.statistical_history_row as x
                 except all
                 select row, moments from pg_temp.was_history) as n
          limit 20)
        union all
        (select jsonb_build_object('table', 'statistical_unit_facet', 'row', w.row, 'is', 'published')
           from (select row, moments from pg_temp.was_facet
                 except all
                 select to_jsonb(x) - 'moments', register.plain_moments(x.moments)
                   from register.statistical_unit_facet_row as x) as w
          limit 20)
        union all
        (select jsonb_build_object('table', 'statistical_unit_facet', 'row', n.row, 'is', 'missing')
           from (select to_jsonb(x) - 'moments' as row, register.plain_moments(x.moments) as moments
                   from register.statistical_unit_facet_row as x
                 except all
                 select row, moments from pg_temp.was_facet) as n
          limit 20)
        union all
        (select jsonb_build_object('table', 'statistical_history_facet', 'row', w.row, 'is', 'published')
           from (select row, moments from pg_temp.was_history_facet
                 except all
                 select to_jsonb(x) - 'moments', register.plain_moments(x.moments)
                   from register.statistical_history_facet_row as x) as w
          limit 20)
        union all
        (select jsonb_build_object('table', 'statistical_history_facet', 'row', n.row, 'is', 'missing')
           from (select to_jsonb(x) - 'moments' as row, register.plain_moments(x.moments) as moments
                   from register.statistical_history_facet_row as x
                 except all
                 select row, moments from pg_temp.was_history_facet) as n
          limit 20)
      ) as d;
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
         format('%s: %s %s', f.found ->> 'table', f.found ->> 'is', f.found ->> 'row')
    from jsonb_array_elements(v_found) as f (found);
end;
$$;
