-- lift: the statistics of single values: each establishment's and legal unit's own ones, by segment. A legal unit's own
-- are kept apart as type own; what it includes is added up in legal_unit_rows.
--
--   reads   pg_temp.b_segment, pg_temp.b_stat
--   writes  pg_temp.b_moment
--   plan    no_jit, generic, hashed
create or replace function register.lift()
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into pg_temp.b_moment
  select case s.unit_type when 'legal_unit' then 'own' else s.unit_type end, s.unit_id, s.valid_from,
         d.stat_definition_id, d.word, 1, d.number, d.number * d.number, d.number, d.number
    from pg_temp.b_segment as s
    join pg_temp.b_stat as d on d.unit_type = s.unit_type and d.unit_id = s.unit_id
                            and d.valid_from <= s.valid_from and s.valid_until <= d.valid_until;
end;
$$;
