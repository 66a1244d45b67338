-- take_changes: open a round with all logged changes that no round has, and find again the power groups that they
-- touch. The log rows stay, marked with the round, until it has published everything; groups that were found only now
-- are logged with it, for nothing else would tell the next round of one that has gone. Where most units changed, as
-- after a first import, the round is about all of them: they need not be looked for.
--
--   raises  RG014 another round is open
create or replace function register.take_changes(p_is_all boolean)
  returns register.round
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round         register.round := register.open_round(case when p_is_all then 'all' else 'changes' end);
  v_relationships int4multirange;
  v_groups        int4multirange;
begin
  update register.base_change_log as b set round_id = v_round.id where b.round_id is null;
  update register.round as r
     set establishment_ids = coalesce(g.establishment_ids, '{}'),
         legal_unit_ids    = coalesce(g.legal_unit_ids, '{}'),
         enterprise_ids    = coalesce(g.enterprise_ids, '{}'),
         power_group_ids   = coalesce(g.power_group_ids, '{}'),
         rebuild           = register.reports_need_rebuild() or coalesce(g.rebuilds_reports, false),
         kind              = case when register.is_most(g.establishment_ids, g.legal_unit_ids) then 'all'
                                  else r.kind end
    from (select range_agg(b.establishment_ids) as establishment_ids, range_agg(b.legal_unit_ids) as legal_unit_ids,
                 range_agg(b.enterprise_ids) as enterprise_ids, range_agg(b.power_group_ids) as power_group_ids,
                 bool_or(b.rebuilds_reports) as rebuilds_reports
            from register.base_change_log as b
           where b.round_id = v_round.id) as g
   where r.id = v_round.id;

  select coalesce(range_agg(b.relationship_legal_unit_ids), '{}'), coalesce(range_agg(b.power_group_ids), '{}')
    into v_relationships, v_groups
    from register.base_change_log as b
   where b.round_id = v_round.id
     and b.relationship_legal_unit_ids is not null;
  if p_is_all then
    select v_relationships + coalesce(range_agg(int4range(x.id, x.id, '[]')), '{}') into v_relationships
      from (select influencing_id as id from register.legal_relationship
            union
            select influenced_id from register.legal_relationship) as x;
  end if;
  if not isempty(v_relationships) then
    v_groups := register.assign_power_groups(v_relationships, v_groups);
    insert into register.base_change_log (round_id, power_group_ids)
    select r.id, v_groups - r.power_group_ids
      from register.round as r
     where r.id = v_round.id
       and not v_groups <@ r.power_group_ids;
    update register.round as r set power_group_ids = r.power_group_ids + v_groups where r.id = v_round.id;
  end if;
  select r.* into v_round from register.round as r where r.id = v_round.id;
  return v_round;
end;
$$;
