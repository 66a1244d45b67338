-- legal_unit_rows: which establishments each legal unit has in each of its segments, the data sources they bring, and
-- the statistics of both together. A legal unit that does not count has none; an establishment that does not count adds
-- none.
--
--   reads   pg_temp.b_moment, pg_temp.b_own, pg_temp.b_part
--   writes  pg_temp.b_moment, pg_temp.b_own, pg_temp.b_part
--   plan    no_jit, generic, hashed, memory_128
create or replace function register.legal_unit_rows()
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into pg_temp.b_part
  select 'legal_unit', u.unit_id, u.valid_from, 'establishment', e.unit_id, e.valid_from, e.used_for_counting, true,
         e.is_primary, null
    from pg_temp.b_own as u
    join pg_temp.b_own as e on e.legal_unit_id = u.unit_id
                           and e.valid_from <= u.valid_from and u.valid_until <= e.valid_until
   where u.unit_type = 'legal_unit';

  insert into pg_temp.b_moment
  select 'legal_unit', g.unit_id, g.valid_from, g.stat_definition_id, g.word, sum(g.n), sum(g.total), sum(g.squares),
         min(g.least), max(g.most)
    from (select m.unit_id, m.valid_from, m.stat_definition_id, m.word, m.n, m.total, m.squares, m.least, m.most
            from pg_temp.b_moment as m
           where m.unit_type = 'own'
          union all
          select p.unit_id, p.valid_from, m.stat_definition_id, m.word, m.n, m.total, m.squares, m.least, m.most
            from pg_temp.b_part as p
            join pg_temp.b_moment as m
              on m.unit_type = p.part_type and m.unit_id = p.part_id and m.valid_from = p.part_from
           where p.unit_type = 'legal_unit' and p.counts) as g
    join pg_temp.b_own as u on u.unit_type = 'legal_unit' and u.unit_id = g.unit_id and u.valid_from = g.valid_from
   where u.used_for_counting
   group by g.unit_id, g.valid_from, g.stat_definition_id, g.word;

  -- Of establishments that bring their own source; most do not.
  update pg_temp.b_own as u
     set data_source_ids = x.data_source_ids
    from (select p.unit_id, p.valid_from, array_agg(distinct d.id order by d.id) as data_source_ids
            from pg_temp.b_part as p
            join pg_temp.b_own as e
              on e.unit_type = p.part_type and e.unit_id = p.part_id and e.valid_from = p.part_from
            join pg_temp.b_own as o
              on o.unit_type = p.unit_type and o.unit_id = p.unit_id and o.valid_from = p.valid_from
           cross join lateral unnest(o.data_source_ids || e.data_source_ids) as d (id)
           where p.unit_type = 'legal_unit'
             and not e.data_source_ids <@ coalesce(o.data_source_ids, '{}')
           group by p.unit_id, p.valid_from) as x
   where u.unit_type = 'legal_unit'
     and u.unit_id = x.unit_id
     and u.valid_from = x.valid_from;
end;
$$;
