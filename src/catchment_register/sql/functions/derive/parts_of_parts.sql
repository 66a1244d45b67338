-- parts_of_parts: add the establishments of its legal units to the parts of each enterprise or power group; with
-- p_counting, of those legal units that count.
--
--   reads   pg_temp.b_part
--   writes  pg_temp.b_part
--   plan    no_jit, generic, hashed
create or replace function register.parts_of_parts(
  p_unit_type  text,
  p_counting   boolean
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into pg_temp.b_part
  select p.unit_type, p.unit_id, p.valid_from, e.part_type, e.part_id, e.part_from, e.counts, false, false, null
    from pg_temp.b_part as p
    join pg_temp.b_part as e on e.unit_type = 'legal_unit' and e.unit_id = p.part_id and e.valid_from = p.part_from
   where p.unit_type = p_unit_type
     and p.part_type = 'legal_unit'
     and (p.counts or not p_counting);
end;
$$;
