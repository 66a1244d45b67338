-- explain_waiting: work that no round has taken: logged changes, a failed derivation of everything, reports that are
-- behind. Reads the 10,000 oldest changes. See explain.
create or replace function register.explain_waiting(
  p_of   register.subject,
  p_now  timestamptz
)
  returns setof worker.condition
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with log as materialized (
    select b.* from register.base_change_log as b where b.round_id is null order by b.id limit 10000
  ),
  looked as (
    select count(*) as n, min(b.logged_at) as since from log as b
  ),
  mine as (
    select count(*) as n, min(b.logged_at) as since
      from log as b
     where p_of.kind <> 'unit'
        or b.establishment_ids && p_of.establishment_ids
        or b.legal_unit_ids && p_of.legal_unit_ids
        or b.enterprise_ids && p_of.enterprise_ids
        or b.power_group_ids && p_of.power_group_ids
        or b.relationship_legal_unit_ids && p_of.legal_unit_ids and not isempty(p_of.power_group_ids)
  )
  select 'changes', true, jsonb_build_object('count', m.n, 'since', m.since, 'looked_at', l.n),
         format('%s%s of %s %s not in a round yet; the oldest was made at %s.',
                case when m.n >= 10000 then 'At least ' else '' end, worker.said_count(m.n, 'logged change'), p_of.name,
                case m.n when 1 then 'is' else 'are' end, worker.said_when(m.since, p_now)),
         null
    from mine as m
   cross join looked as l
   where m.n > 0
  union all
  select 'changes', true, jsonb_build_object('count', null, 'since', l.since, 'looked_at', l.n),
         format('At least %s logged changes are not in a round yet, since %s; it was not checked whether one is of %s.',
                l.n, worker.said_when(l.since, p_now), p_of.name),
         null
    from mine as m
   cross join looked as l
   where m.n = 0
     and l.n >= 10000
  union all
  select 'everything', true, jsonb_build_object('round', r.id, 'at', r.ended_at),
         format('The full derivation in round %s failed at %s, and no later round has repeated it.', r.id,
                worker.said_when(r.ended_at, p_now)),
         null
    from (select x.id, x.ended_at from register.round as x where x.kind = 'all' and x.state = 'broken'
           order by x.id desc limit 1) as r
   where register.owes_all()
  union all
  select c.* from register.explain_reports(p_of, p_now) as c;
$$;
