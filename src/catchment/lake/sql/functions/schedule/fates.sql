-- fates: of these rounds, the refreshes that can move now, and what becomes of each: START, NO_DATA, SKIPPED or
-- UPSTREAM_FAILED. One can move when nothing above it in its round is open, and no earlier refresh of its table is: so
-- the refreshes of a table run one after another in the order of their snapshots, and who reads it finds the version of
-- its own round.
--
-- START: it has work, or what it was to read was replaced: the worker that begins it finds that, and moves the round.
--
-- NO_DATA: the table has content, nothing it reads has changed between what it was computed from and the round's
-- snapshot, and nobody else has written it. Most refreshes are of this kind, so it is one statement without calls,
-- which goes table by table from one index to the next; with other plans, which estimates without statistics bring
-- about, it is quadratic.
--
--   plan    walk
create or replace function lake.fates(p_rounds bigint[])
  returns table (refresh_id bigint, dt_id bigint, epoch bigint, fate text, reason text)
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select r.id, d.id, f.epoch,
         case when i.failed is not null then 'UPSTREAM_FAILED'
              when w.skipped is not null then 'SKIPPED'
              when f.data_snapshot is null or d.is_always_due or i.is_changed or i.is_overtaken
                   or exists (select
                                from lake.change as c
                               where c.table_id = d.physical_id
                                 and c.kind <> 'upkeep'
                                 and c.snapshot_id > f.checked_snapshot
                                 and c.snapshot_id <= o.snapshot
                                 and c.snapshot_id <> f.commit_snapshot) then 'START'
              else 'NO_DATA' end,
         coalesce('what it reads was not refreshed: ' || i.failed, w.skipped)
    from lake.refresh as r
    join lake.round as o on o.id = r.round_id
    join lake.dt as d on d.id = r.dt_id
    join lake.frontier as f on f.dt_id = r.dt_id
   -- Of the tables that are read: those that failed in this round; is one open in it, or without content for it, or
   -- no longer with that content, or with another than before?
   cross join lateral (
     select string_agg(format('%s.%s', a.schema_name, a.name), ', ' order by a.id)
              filter (where u.state in ('FAILED', 'UPSTREAM_FAILED', 'CANCELLED')) as failed,
            coalesce(bool_or(u.is_open), false) as is_open,
            bool_or(s.source_dt_id is not null and v.commit_snapshot is null) as lacks_version,
            coalesce(bool_or(s.source_dt_id is not null and v.commit_snapshot is null
                             and (u.state = 'SUCCEEDED' or u.generation <> a.generation
                                  or exists (select
                                               from lake.version as x
                                              where x.dt_id = s.source_dt_id
                                                and x.data_from > o.snapshot))), false) as is_overtaken,
            coalesce(bool_or(case when e.snapshot is null then true
                                  when s.source_dt_id is not null then e.snapshot is distinct from v.commit_snapshot
                                  else exists (select
                                                 from lake.change as c
                                                where c.table_id = s.table_id
                                                  and c.kind <> 'upkeep'
                                                  and c.snapshot_id > e.snapshot
                                                  and c.snapshot_id <= o.snapshot) end), false) as is_changed
       from lake.source as s
       left join lake.read as e on e.dt_id = s.dt_id and e.table_id = s.table_id
       left join lake.dt as a on a.id = s.source_dt_id
       left join lateral (select n.state, n.finished_at is null as is_open, n.generation
                            from lake.refresh as n
                           where n.round_id = r.round_id
                             and n.dt_id = s.source_dt_id
                           limit 1) as u on true
       left join lateral (select x.commit_snapshot
                            from lake.version as x
                           where x.dt_id = s.source_dt_id
                             and x.data_from <= o.snapshot
                             and x.data_to >= o.snapshot
                             and coalesce(u.generation = a.generation, true)
                           order by x.data_from desc
                           limit 1) as v on true
      where s.dt_id = r.dt_id
   ) as i
   cross join lateral (
     select case when d.state not in ('active', 'suspended') then 'the table is being dropped'
                 when d.state = 'suspended' and o.trigger = 'scheduled' then 'the table is suspended'
                 when (f.data_snapshot, f.round_id) >= (o.snapshot, o.id) then 'the table is as new already'
                 when i.lacks_version and not i.is_overtaken then 'a table above has no content for this snapshot'
            end as skipped
   ) as w
   where r.round_id = any (p_rounds)
     and r.state = 'SCHEDULED'
     and r.task_id is null
     and r.id = (select min(e.id) from lake.refresh as e where e.dt_id = r.dt_id and e.finished_at is null)
     and not i.is_open
$$;
