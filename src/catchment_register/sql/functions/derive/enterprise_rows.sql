-- enterprise_rows: the segments of enterprises, the legal units and establishments they have in each, which of these
-- describes them, and the statistics of those that count. Time is cut where something about a part begins or ends;
-- without parts there is no row. The primary legal unit describes an enterprise, else its primary establishment, except
-- for its short name.
--
--   reads   pg_temp.b_own, pg_temp.b_part, pg_temp.b_segment
--   writes  pg_temp.b_part, pg_temp.b_row, pg_temp.b_segment
--   plan    no_jit, generic, hashed, memory_128
create or replace function register.enterprise_rows(p_enterprise_ids integer[])
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into pg_temp.b_segment
  select 'enterprise', x.unit_id, x.at, x.next_at
    from (select p.unit_id, p.at, lead(p.at) over (partition by p.unit_id order by p.at) as next_at
            from (select o.enterprise_id as unit_id, o.valid_from as at from pg_temp.b_own as o
                   where o.enterprise_id is not null
                  union
                  select o.enterprise_id, o.valid_until from pg_temp.b_own as o
                   where o.enterprise_id is not null) as p) as x
   where x.next_at is not null;

  insert into pg_temp.b_part
  select 'enterprise', s.unit_id, s.valid_from, o.unit_type, o.unit_id, o.valid_from, o.used_for_counting, true,
         o.is_primary, null
    from pg_temp.b_segment as s
    join pg_temp.b_own as o
      on o.enterprise_id = s.unit_id and o.valid_from <= s.valid_from and s.valid_until <= o.valid_until
   where s.unit_type = 'enterprise';
  perform register.parts_of_parts('enterprise', false);

  insert into pg_temp.b_row
  select 'enterprise', s.unit_id, s.valid_from, s.valid_until, coalesce(l.part_type, i.part_type),
         coalesce(l.part_id, i.part_id), coalesce(l.part_from, i.part_from), nullif(n.short_name, ''),
         coalesce(l.counts, i.counts, false), l.part_id, i.part_id, n.edit_at, n.edit_by, n.edit_comment
    from pg_temp.b_segment as s
    join (select distinct p.unit_id, p.valid_from from pg_temp.b_part as p where p.unit_type = 'enterprise') as h
      on h.unit_id = s.unit_id and h.valid_from = s.valid_from
    join (select e.* from register.enterprise as e where e.id = any (p_enterprise_ids)) as n on n.id = s.unit_id
    left join pg_temp.b_part as l
      on l.unit_type = 'enterprise' and l.unit_id = s.unit_id and l.valid_from = s.valid_from
     and l.part_type = 'legal_unit'
     and l.is_primary
    left join pg_temp.b_part as i
      on i.unit_type = 'enterprise' and i.unit_id = s.unit_id and i.valid_from = s.valid_from
     and i.part_type = 'establishment'
     and i.is_direct and i.is_primary
   where s.unit_type = 'enterprise';
  perform register.merge_parts('enterprise');
end;
$$;
