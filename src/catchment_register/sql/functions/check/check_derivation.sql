-- check_derivation: in what the derived tables differ from a new derivation of everything, in rows of each that are on
-- one side only. The derivation happens in a subtransaction that is taken back; nobody else sees any of it. While
-- changes wait to be taken by a round, what is published is behind: then there is nothing to compare.
--
--   locks   the round to come: no other can begin meanwhile
--   raises  RG009 while a round is open
--   reads   pg_temp.was_derived
--   writes  pg_temp.was_derived
--   plan    no_jit, memory_128
create or replace function register.check_derivation()
  returns table (rule text, detail text)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_undo  constant text := 'RG000';
  c_most  constant integer := 20;
  v_wrong jsonb;
begin
  if exists (select from register.base_change_log as b where b.round_id is null) then
    return;
  end if;
  begin
    create temporary table was_derived on commit drop as
      select d.name, d.content, d.moments from register.derived_rows() as d;
    perform register.derive_now('all');
    select jsonb_agg(jsonb_build_object('table', d.name, 'row', d.content, 'is', d.side)) into v_wrong
      from (
        select x.*, row_number() over (partition by x.name, x.side) as n
          from (
            select w.name, w.content, 'published' as side
              from (select * from pg_temp.was_derived except all select * from register.derived_rows()) as w
            union all
            select n.name, n.content, 'missing'
              from (select * from register.derived_rows() except all select * from pg_temp.was_derived) as n
          ) as x
      ) as d
     where d.n <= c_most;
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
