-- find_differences: collect in p_diff the units of a round that have any row that is new, gone or different. A round of
-- kind all is about every published unit; another one about those that its batches have derived. A unit without a
-- staged row that has been logged again meanwhile is deferred to the next round: it may have moved into a batch that
-- was already done.
--
--   returns their number
--   reads   pg_temp.p_diff
--   writes  pg_temp.p_diff
--   plan    no_jit, unlooped, memory_256
create or replace function register.find_differences(p_round register.round)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_all         boolean := p_round.kind = 'all';
  v_establishments integer[] := '{}';
  v_legal_units    integer[] := '{}';
  v_enterprises    integer[] := '{}';
  v_groups         integer[] := '{}';
  v_count          bigint;
begin
  if not register.has_scratch('p_diff') then
    create temporary table p_diff (unit_type text collate "C", unit_id integer) on commit delete rows;
  end if;
  -- Empty, unless this transaction has been here before.
  delete from pg_temp.p_diff;
  if not v_is_all then
    select register.id_array(range_agg(b.establishment_ids)), register.id_array(range_agg(b.legal_unit_ids)),
           register.id_array(range_agg(b.enterprise_ids)), register.id_array(range_agg(b.power_group_ids))
      into v_establishments, v_legal_units, v_enterprises, v_groups
      from register.round_batch as b
     where b.round_id = p_round.id
       and b.stage = 'units';
  end if;

  insert into pg_temp.p_diff
  select distinct coalesce(n.unit_type, o.unit_type), coalesce(n.unit_id, o.unit_id)
    from (select s.unit_type, s.unit_id, s.valid_from, register.staged_row(s) as whole
            from register.statistical_unit_staging as s
           where s.round_id = p_round.id) as n
    full join (
      select p.unit_type, p.unit_id, p.valid_from, p as whole from register.statistical_unit_row as p where v_is_all
      union all
      select p.unit_type, p.unit_id, p.valid_from, p from register.statistical_unit_row as p
       where not v_is_all and p.unit_type = 'establishment' and p.unit_id = any (v_establishments)
      union all
      select p.unit_type, p.unit_id, p.valid_from, p from register.statistical_unit_row as p
       where not v_is_all and p.unit_type = 'legal_unit' and p.unit_id = any (v_legal_units)
      union all
      select p.unit_type, p.unit_id, p.valid_from, p from register.statistical_unit_row as p
       where not v_is_all and p.unit_type = 'enterprise' and p.unit_id = any (v_enterprises)
      union all
      select p.unit_type, p.unit_id, p.valid_from, p from register.statistical_unit_row as p
       where not v_is_all and p.unit_type = 'power_group' and p.unit_id = any (v_groups)
    ) as o on o.unit_type = n.unit_type and o.unit_id = n.unit_id and o.valid_from = n.valid_from
   where n.whole is distinct from o.whole;
  delete from pg_temp.p_diff as d
   using (select range_agg(b.establishment_ids) as establishment_ids, range_agg(b.legal_unit_ids) as legal_unit_ids,
                 range_agg(b.enterprise_ids) as enterprise_ids
            from register.base_change_log as b
           where b.round_id is null) as later
   where d.unit_id <@ case d.unit_type when 'establishment' then later.establishment_ids
                                       when 'legal_unit' then later.legal_unit_ids
                                       when 'enterprise' then later.enterprise_ids end
     and not exists (select from register.statistical_unit_staging as s
                      where s.round_id = p_round.id
                        and s.unit_type = d.unit_type
                        and s.unit_id = d.unit_id);
  analyze pg_temp.p_diff;
  select count(*) into v_count from pg_temp.p_diff as d;
  return v_count;
end;
$$;
