-- plan_partitions: payloads of the children that collect the cells of facets: all slots in equal parts, or after
-- changes the slots that these made dirty, in at most as many.
create or replace function register.plan_partitions(p_round_id bigint)
  returns jsonb[]
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_scope  record;
  v_parts  integer;
begin
  perform register.require_mark(p_round_id);
  select s.* into strict v_scope from register.report_scope(p_round_id, 'facet') as s;
  select s.partition_count_target into strict v_parts from register.settings as s;
  return (
    select coalesce(array_agg(jsonb_build_object('round_id', p_round_id, 'partition_seq', p.seq, 'slots', p.slots)
                              order by p.seq), '{}')
      from (
        select s.seq, range_agg(int4range(s.slot, s.slot, '[]')) as slots
          from (
            select g.slot, g.slot * v_parts / 16384 as seq
              from generate_series(0, 16383) as g (slot)
             where v_scope.is_rebuild
            union all
            -- As many slots to each, but no child for a few slots alone.
            select d.hash_slot::integer, (row_number() over (order by d.hash_slot) - 1)
                                         / greatest(256, ceil(count(*) over () / v_parts::numeric)::integer)
              from (select distinct d.hash_slot
                      from register.statistical_unit_facet_dirty_partitions as d
                     where not v_scope.is_rebuild
                       and d.flush_id > v_scope.from_flush
                       and d.flush_id <= v_scope.to_flush) as d
          ) as s
         group by s.seq
      ) as p
  );
end;
$$;
