-- Why: the schedule of dynamic tables is a task of the engine, and upkeep that is requested now and then has to know
-- when it last was. Locks: lake.lake for a moment.

alter table lake.lake
  add column compact_files    integer not null default 64,
  add column compact_deletes  double precision not null default 0.3,
  add column swept_at         timestamptz,
  add column maintained_at    timestamptz,
  add column tidied_at        timestamptz,
  add column expire_after     interval,
  add column orphans_after    interval,
  add column expired_at       timestamptz not null default clock_timestamp(),
  add constraint lake_expiry_is_a_day check (least(expire_after, orphans_after) >= interval '1 day');
comment on column lake.lake.compact_files is
  'A table with more files per bucket than this is compacted; compact_deletes: or with a larger share of deleted '
  'rows.';
comment on column lake.lake.swept_at is
  'When the sweep of files was last asked for; maintained_at: upkeep of tables; tidied_at: old history was deleted; '
  'expired_at: expiry and the comparison of files with the catalog.';
comment on column lake.lake.expire_after is
  'Snapshots older than this that nothing needs go by themselves, once a day; null: never. orphans_after: so do files '
  'below the data path that the catalog does not know.';

insert into worker.command_registry (command, queue, handler_procedure, dedup, description)
values ('lake_tick', 'lake_schedule', 'lake.run_tick', '{}',
        'Opens rounds for dynamic tables that are due, and lets open ones continue.')
on conflict do nothing;

-- lake.set_tick says how often, and whether at all.
insert into worker.schedule (name, command, every, enabled)
values ('lake_tick', 'lake_tick', '1 minute', false)
on conflict do nothing;

-- One tick, one new round at a time.
insert into worker.turn (name) values ('lake.tick'), ('lake.round') on conflict do nothing;
