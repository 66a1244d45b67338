-- merge_parts: the statistics of enterprises or power groups that count: those of their direct parts that count,
-- together.
--
--   reads   pg_temp.b_moment, pg_temp.b_part, pg_temp.b_row
--   writes  pg_temp.b_moment
--   plan    no_jit, generic, hashed, memory_128
create or replace function register.merge_parts(p_unit_type text)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into pg_temp.b_moment
  select r.unit_type, r.unit_id, r.valid_from, m.stat_definition_id, m.word, sum(m.n), sum(m.total), sum(m.squares),
         min(m.least), max(m.most)
    from pg_temp.b_row as r
    join pg_temp.b_part as p on p.unit_type = r.unit_type and p.unit_id = r.unit_id and p.valid_from = r.valid_from
    join pg_temp.b_moment as m on m.unit_type = p.part_type and m.unit_id = p.part_id and m.valid_from = p.part_from
   where r.unit_type = p_unit_type
     and r.used_for_counting
     and p.is_direct
     and p.counts
   group by r.unit_type, r.unit_id, r.valid_from, m.stat_definition_id, m.word;
end;
$$;
