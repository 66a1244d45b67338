-- The last rounds: their kind, counts and duration.
select r.id, r.kind, r.state, r.started_at, r.ended_at,
       round(extract(epoch from coalesce(r.ended_at, clock_timestamp()) - r.started_at), 2) as seconds,
       round(extract(epoch from r.flushed_at - r.started_at), 2) as seconds_to_units,
       r.effective_establishment_count as establishments, r.effective_legal_unit_count as legal_units,
       r.effective_enterprise_count as enterprises, r.effective_power_group_count as power_groups,
       r.batch_count as batches, r.rebuild as reports_rebuilt
  from register.round as r
 order by r.id desc
 limit %(limit)s;
