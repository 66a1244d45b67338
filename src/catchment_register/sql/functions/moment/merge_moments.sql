-- merge_moments: what is published under the keys of the scratch table moment_merge, plus what they gain, minus what
-- they lose, into moment_piece, variable by variable. Numbers and sums simply add up. The extreme of old and new values
-- stands if more rows held it than went; an old one is held by one row at least, even if these were not counted (0).
-- Otherwise min and max are left null: they are to be looked up. p_is_part: all that is lost was published before. With
-- several flushes at once, some of it may be among what they add.
--
--   raises  RG015 a report does not agree with its units
--   reads   pg_temp.moment_merge, pg_temp.moment_piece
--   writes  pg_temp.moment_piece
--   plan    no_jit, memory_128
create or replace function register.merge_moments(p_is_part boolean)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  delete from pg_temp.moment_piece;
  insert into pg_temp.moment_piece (facet_key, period_key, stat_definition_id, n, total, squares, min, min_count, max,
                                    max_count)
  select x.facet_key, x.period_key, x.stat_definition_id, x.n, trim_scale(x.total), trim_scale(x.squares),
         case when x.n = 1 then x.total
              when p_is_part and x.old_n = x.removed_n then x.added_min
              when e.min_held > e.min_gone then e.min end,
         case when x.n = 1 then 1
              when p_is_part and x.old_n = x.removed_n then x.added_min_count
              when e.min_held > e.min_gone then e.min_count end,
         case when x.n = 1 then x.total
              when p_is_part and x.old_n = x.removed_n then x.added_max
              when e.max_held > e.max_gone then e.max end,
         case when x.n = 1 then 1
              when p_is_part and x.old_n = x.removed_n then x.added_max_count
              when e.max_held > e.max_gone then e.max_count end
    from (
      select t.facet_key, t.period_key, m.stat_definition_id,
             sum(case m.side when 'removed' then -m.n else m.n end)::bigint as n,
             sum(case m.side when 'removed' then -m.total else m.total end) as total,
             sum(case m.side when 'removed' then -m.squares else m.squares end) as squares,
             coalesce(max(m.n) filter (where m.side = 'old'), 0) as old_n,
             max(m.min) filter (where m.side = 'old') as old_min,
             max(coalesce(m.min_count, 1)) filter (where m.side = 'old') as old_min_count,
             max(m.max) filter (where m.side = 'old') as old_max,
             max(coalesce(m.max_count, 1)) filter (where m.side = 'old') as old_max_count,
             max(m.min) filter (where m.side = 'added') as added_min,
             max(coalesce(m.min_count, 1)) filter (where m.side = 'added') as added_min_count,
             max(m.max) filter (where m.side = 'added') as added_max,
             max(coalesce(m.max_count, 1)) filter (where m.side = 'added') as added_max_count,
             coalesce(max(m.n) filter (where m.side = 'removed'), 0) as removed_n,
             max(m.min) filter (where m.side = 'removed') as removed_min,
             max(coalesce(m.min_count, 1)) filter (where m.side = 'removed') as removed_min_count,
             max(m.max) filter (where m.side = 'removed') as removed_max,
             max(coalesce(m.max_count, 1)) filter (where m.side = 'removed') as removed_max_count
        from pg_temp.moment_merge as t
       cross join lateral (
         select 'old' as side, o.* from unnest(t.old) as o
         union all
         select 'added', a.* from unnest(t.added) as a
         union all
         select 'removed', r.* from unnest(t.removed) as r
       ) as m
       group by t.facet_key, t.period_key, m.stat_definition_id
    ) as x
   cross join lateral (
     select least(x.old_min, x.added_min) as min, greatest(x.old_max, x.added_max) as max
   ) as c
   cross join lateral (
     select c.min, c.max,
            case when x.old_min = c.min then greatest(x.old_min_count, 1) else 0 end
              + case when x.added_min = c.min then x.added_min_count else 0 end as min_held,
            case when x.old_max = c.max then greatest(x.old_max_count, 1) else 0 end
              + case when x.added_max = c.max then x.added_max_count else 0 end as max_held,
            case when x.removed_min = c.min then x.removed_min_count else 0 end as min_gone,
            case when x.removed_max = c.max then x.removed_max_count else 0 end as max_gone,
            case when x.old_min = c.min and x.old_min_count = 0 then 0
                 else case when x.old_min = c.min then x.old_min_count else 0 end
                      + case when x.added_min = c.min then x.added_min_count else 0 end
                      - case when x.removed_min = c.min then x.removed_min_count else 0 end end as min_count,
            case when x.old_max = c.max and x.old_max_count = 0 then 0
                 else case when x.old_max = c.max then x.old_max_count else 0 end
                      + case when x.added_max = c.max then x.added_max_count else 0 end
                      - case when x.removed_max = c.max then x.removed_max_count else 0 end end as max_count
   ) as e
   where x.n <> 0;

  if exists (select from pg_temp.moment_piece as p where p.n < 0) then
    raise exception using
      errcode = 'RG015',
      message = 'a report would lose more values than it has: it does not agree with the units it was made from',
      hint = 'Run: catchment register derive --full';
  end if;
end;
$$;
