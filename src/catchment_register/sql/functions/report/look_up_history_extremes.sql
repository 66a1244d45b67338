-- look_up_history_extremes: for keys of moment_piece whose last holder of an extreme has gone, the extreme among those
-- that are left. Of the history every unit of that type may hold it, so all published rows of the type are read once:
-- seconds in a large register, and rare. Of the history by facet the units of the facets that a child has staged are
-- read through an index; its cells are gone when it commits, so that no other child sees them.
--
--   reads   pg_temp.moment_piece, pg_temp.open_extreme
--   writes  pg_temp.moment_part, pg_temp.moment_sum, pg_temp.open_extreme, pg_temp.wanted_facet
--   plan    no_jit, unlooped, hash_again, memory_128
create or replace function register.look_up_history_extremes(
  p_round_id   bigint,
  p_report     text,
  p_batch_seq  integer
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_periods register.period[];
begin
  delete from pg_temp.open_extreme;
  insert into pg_temp.open_extreme (facet_key, period_key)
  select distinct p.facet_key, p.period_key from pg_temp.moment_piece as p where p.min is null or p.max is null;
  if not found then
    return;
  end if;
  select register.named_periods(array_agg(distinct (o.period_key / 100)::text
                                          || case when o.period_key % 100 > 0
                                                  then to_char(o.period_key % 100, '"-"FM00') else '' end))
    into v_periods
    from pg_temp.open_extreme as o;
  delete from pg_temp.wanted_facet;
  insert into pg_temp.wanted_facet (unit_type, physical_region_path, primary_activity_category_path, legal_form_id,
                                    physical_country_id,
                            status_id, unit_size_id)
  select distinct f.unit_type, f.physical_region_path, f.primary_activity_category_path, f.legal_form_id,
                  f.physical_country_id,
         f.status_id, f.unit_size_id
    from (select distinct o.facet_key from pg_temp.open_extreme as o) as o
    join register.statistical_history_staging as f on f.facet_key = o.facet_key
   where f.round_id = p_round_id
     and (p_batch_seq is null or f.batch_seq = p_batch_seq);
  if p_report = 'facet' then
    perform register.want_units();
  end if;
  perform register.collect_cells(p_round_id, p_report, -1, '{[0,16384)}');
  -- Each cell is weighed against each period: most of those that stand for many units belong to facets that differ in
  -- what is left.
  delete from register.report_cell as c
   where c.round_id = p_round_id
     and c.partition_seq < 0
     and c.unit_id is null
     and c.facet_key not in (select o.facet_key from pg_temp.open_extreme as o);
  -- Groups of the history are few and large, those of facets many and small: see add_moments.
  if p_report = 'history' then
    delete from pg_temp.moment_part;
    insert into pg_temp.moment_part (facet_key, period_key, sign, moments)
    select f.facet_key, f.period_key, f.sign, f.moments
      from register.history_facts(p_round_id, 'history', true, v_periods) as f
      join pg_temp.open_extreme as o using (facet_key, period_key)
     where f.moments is not null;
    perform register.sum_moments();
  else
    delete from pg_temp.moment_sum;
    insert into pg_temp.moment_sum (facet_key, period_key, added)
    select f.facet_key, f.period_key, register.total_moments(f.moments)
      from register.history_facts(p_round_id, 'facet', true, v_periods) as f
     where f.moments is not null
       and (f.facet_key, f.period_key) in (select o.facet_key, o.period_key from pg_temp.open_extreme as o)
     group by f.facet_key, f.period_key;
  end if;
  perform register.fill_extremes();
  delete from register.report_cell as c where c.round_id = p_round_id and c.partition_seq < 0;
end;
$$;
