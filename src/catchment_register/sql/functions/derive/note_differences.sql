-- note_differences: store all rows of the units in p_diff, as published and as staged, and the shares of the facets
-- they are in.
--
--   reads   pg_temp.p_diff
--   plan    no_jit
create or replace function register.note_differences(
  p_round_id  bigint,
  p_flush_id  bigint
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into register.statistical_unit_change
  select p_flush_id, -1, p.*
    from register.statistical_unit_row as p
   where (p.unit_type, p.unit_id) in (select d.unit_type, d.unit_id from pg_temp.p_diff as d);
  insert into register.statistical_unit_change
  select p_flush_id, 1, (register.staged_row(s)).*
    from register.statistical_unit_staging as s
   where s.round_id = p_round_id
     and (s.unit_type, s.unit_id) in (select d.unit_type, d.unit_id from pg_temp.p_diff as d);
  insert into register.statistical_unit_facet_dirty_partitions (flush_id, hash_slot)
  select distinct p_flush_id, c.hash_slot from register.statistical_unit_change as c where c.flush_id = p_flush_id;
end;
$$;
