-- The last rounds, the newest first.
select r.id, r.kind, r.state, r.started_at, r.flushed_at, r.ended_at, r.failures,
       coalesce(r.effective_establishment_count, 0) + coalesce(r.effective_legal_unit_count, 0)
       + coalesce(r.effective_enterprise_count, 0) + coalesce(r.effective_power_group_count, 0) as units
  from register.round as r
 order by r.id desc
 limit 5;
