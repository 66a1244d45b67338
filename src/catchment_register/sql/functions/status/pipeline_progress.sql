-- pipeline_progress: progress of derivation, one row for each of its two phases. step: its first stage that has not
-- settled; total, completed: children of that stage; counts: units that the open round derives. percent weighs the
-- steps by the time they usually take, and is null while a round that broke waits for its next try: see last_failure.
-- active: the phase is being worked on; pending: it comes after the other.
create or replace function register.pipeline_progress()
  returns table (
    phase                          text,
    active                         boolean,
    pending                        boolean,
    step                           text,
    total                          integer,
    completed                      integer,
    effective_establishment_count  integer,
    effective_legal_unit_count     integer,
    effective_enterprise_count     integer,
    effective_power_group_count    integer,
    percent                        numeric
  )
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with round as (
    select r.* from register.round as r where r.state = 'open'
  ),
  stage as materialized (
    -- Tasks outside the open round report no progress.
    select distinct on (w.seq) w.phase, w.seq, w.step, w.weight, o.state, o.progress
      from register.open_tasks(array(select w.step from register.pipeline_step_weight as w)) as o
      join register.pipeline_step_weight as w on w.step = o.command
     where (o.payload ->> 'round_id')::bigint = (select r.id from round as r)
        or not exists (select from round)
     order by w.seq, o.id
  ),
  current as (
    select p.phase, c.seq, c.step, c.weight, c.state, (c.progress ->> 'total')::integer as total,
           (c.progress ->> 'done')::integer as completed
      from (values ('units'), ('reports')) as p (phase)
      left join lateral (
        select s.* from stage as s where s.phase = p.phase order by s.seq limit 1
      ) as c on true
  )
  select c.phase,
         a.is_active and not b.is_later,
         a.is_active and b.is_later,
         c.step, c.total, c.completed,
         r.effective_establishment_count, r.effective_legal_unit_count, r.effective_enterprise_count,
         r.effective_power_group_count,
         case when not a.is_active then null
              when b.is_later then 0
              when c.step is null and not exists (select from round) then null
              else round(100 * (select coalesce(sum(w.weight) filter (where w.seq < c.seq), 0)
                                       + coalesce(c.weight * c.completed / nullif(c.total, 0), 0)
                                  from register.pipeline_step_weight as w
                                 where w.phase = c.phase)
                         / (select sum(w.weight) from register.pipeline_step_weight as w where w.phase = c.phase), 1)
         end
    from current as c
    left join round as r on true
   cross join lateral (
     select case c.phase when 'units' then register.is_deriving_statistical_units()
                         else register.is_deriving_reports() end as is_active
   ) as a
   cross join lateral (
     select c.phase = 'reports' and exists (select from current as u where u.phase = 'units' and u.step is not null
                                                                       and u.step <> 'collect_changes') as is_later
   ) as b
   order by c.phase desc;
$$;
