-- Why: what dynamic tables there are, what each was computed from, and the refreshes that keep them up to date. Locks:
-- nothing, the tables are new. The catalog of the lake itself belongs to DuckLake and is only read, through views made
-- at installation.

create table lake.lake (
  is_one            boolean primary key default true check (is_one),
  data_path         text not null,
  metadata_schema   text not null,
  scanned_snapshot  bigint not null default -1,
  max_failures      integer not null default 5,
  history           interval not null default '30 days',
  executor          text,
  created_at        timestamptz not null default clock_timestamp(),
  constraint lake_failures_are_positive check (max_failures >= 1),
  constraint lake_executor_is_known check (executor in ('worker', 'ray'))
);
comment on table lake.lake is
  'The lake of this database: one row. scanned_snapshot: lake.change knows all snapshots up to it. max_failures: so '
  'many failed scheduled refreshes in a row suspend a table. history: how long refreshes are remembered. executor: '
  'where subtasks are computed, for tables that do not say; null for the setting of each worker.';

create table lake.dt (
  id               bigint generated always as identity primary key,
  schema_name      text not null,
  name             text not null,
  generation       integer not null default 1,
  last_generation  integer not null default 0,
  replaces         bigint references lake.dt on delete cascade,
  definition       text not null,
  definition_hash  text not null,
  properties       jsonb not null,
  target_lag       interval,
  scheduler        boolean not null default true,
  strategy         text not null,
  reason           text,
  is_always_due    boolean not null default false,
  layout           jsonb not null,
  buckets          integer not null default 1,
  physical_id      bigint,
  next             jsonb,
  state            text not null default 'creating',
  suspended_by     text,
  suspended_at     timestamptz,
  error_streak     integer not null default 0,
  expected_ms      double precision not null default 0,
  last_attempt_at  timestamptz,
  component        bigint not null default 0,
  created_at       timestamptz not null default clock_timestamp(),
  updated_at       timestamptz not null default clock_timestamp(),
  constraint dt_state_is_known      check (state in ('creating', 'active', 'suspended', 'dropping')),
  constraint dt_suspended_by_whom   check ((state = 'suspended') = (suspended_by is not null)),
  constraint dt_suspended_since     check ((state = 'suspended') = (suspended_at is not null)),
  constraint dt_suspension_is_known check (suspended_by in ('user', 'failures', 'upstream')),
  constraint dt_strategy_is_known   check (strategy in ('delta', 'keys', 'full')),
  constraint dt_full_has_reason     check ((strategy = 'full') = (reason is not null)),
  constraint dt_lag_is_long_enough  check (target_lag >= interval '1 second'),
  constraint dt_has_buckets         check (buckets between 1 and 256),
  constraint dt_active_has_table    check (state not in ('active', 'suspended') or physical_id is not null)
);
comment on table lake.dt is
  'Dynamic tables. The rows of one are in the lake table dt.t<id>g<generation>, whose id in the catalog is '
  'physical_id; its name is a view of the lake. target_lag null: DOWNSTREAM. next: the definition that the commit of a '
  'CREATE puts into force. replaces: this is the new definition of that table, whose place it takes in the commit of '
  'its first refresh; its rows are in dt.t<replaces>g<generation>. last_generation: the newest that was ever given '
  'out.';
-- Names are as in the lake, where case does not tell two tables apart.
create unique index dt_name on lake.dt (lower(schema_name), lower(name));
-- A table has one new definition at a time.
create unique index dt_replaces on lake.dt (replaces) where replaces is not null;

create table lake.source (
  dt_id         bigint not null references lake.dt on delete cascade,
  table_id      bigint not null,
  schema_name   text not null,
  table_name    text not null,
  source_dt_id  bigint references lake.dt,
  used_columns  text[] not null,
  primary key (dt_id, table_id)
);
comment on table lake.source is
  'The tables that a dynamic table reads, each once. source_dt_id: the table is the content of that dynamic table.';
-- The graph downwards: what reads this table.
create index source_upstream on lake.source (source_dt_id) where source_dt_id is not null;

create table lake.frontier (
  dt_id             bigint primary key references lake.dt on delete cascade,
  epoch             bigint not null default 0,
  data_snapshot     bigint,
  data_at           timestamptz,
  commit_snapshot   bigint,
  checked_snapshot  bigint,
  rows              bigint,
  round_id          bigint,
  constraint frontier_is_whole
    check (num_nulls(data_snapshot, data_at, commit_snapshot, checked_snapshot, rows, round_id) in (0, 6))
);
comment on table lake.frontier is
  'What the content of a dynamic table corresponds to: its query at data_snapshot, which was the newest at data_at, '
  'when the round round_id was opened. That content is in the lake at commit_snapshot. Up to checked_snapshot nobody '
  'else is known to have written it. '
  'epoch grows with every change of this row by a refresh: who publishes must have started from the newest.';

create table lake.read (
  dt_id     bigint not null references lake.dt on delete cascade,
  table_id  bigint not null,
  snapshot  bigint not null,
  rows      bigint not null,
  columns   jsonb not null,
  primary key (dt_id, table_id)
);
comment on table lake.read is
  'What the frontier was computed from: each source at a snapshot, how many rows it had, and the used columns as they '
  'were: {"name": {"id": 1, "type": "BIGINT"}}.';

create table lake.version (
  dt_id            bigint not null references lake.dt on delete cascade,
  data_from        bigint not null,
  data_to          bigint not null,
  commit_snapshot  bigint not null,
  rows             bigint not null,
  primary key (dt_id, data_from),
  constraint version_is_a_range check (data_to >= data_from)
);
comment on table lake.version is
  'Where to read a dynamic table as of an earlier data snapshot: for data_from … data_to its content is in the lake at '
  'commit_snapshot, and has this many rows.';

create table lake.change (
  table_id     bigint not null,
  snapshot_id  bigint not null,
  kind         text not null,
  primary key (table_id, snapshot_id, kind),
  constraint change_kind_is_known check (kind in ('data', 'inlined', 'ddl', 'upkeep'))
);
comment on table lake.change is
  'Which table was touched by which snapshot, as scan_changes found it in the catalog. upkeep leaves the content as it '
  'is.';

create table lake.round (
  id          bigint generated always as identity primary key,
  trigger     text not null,
  snapshot    bigint not null,
  data_at     timestamptz not null,
  created_at  timestamptz not null,
  closed_at   timestamptz,
  moved_from  bigint references lake.round on delete set null,
  moves       integer not null default 0,
  constraint round_trigger_is_known check (trigger in ('scheduled', 'manual', 'create'))
);
comment on table lake.round is
  'One pass over connected dynamic tables at one snapshot of the lake, which was its newest at data_at. moved_from: '
  'the round that could not read its snapshot to the end and whose open refreshes this one repeats; moves: how many '
  'such rounds came before it.';
-- advance: the rounds that are not over.
create index round_open on lake.round (id) where closed_at is null;
-- round_progress: the rounds that continue in the place of one.
create index round_moved on lake.round (moved_from) where moved_from is not null;

create table lake.reading (
  round_id     bigint not null references lake.round on delete cascade,
  schema_name  text not null,
  table_name   text not null,
  rows         bigint,
  primary key (round_id, schema_name, table_name)
);
comment on table lake.reading is
  'What a round reads of the sources that have changed, by their names in lower case: how many rows each had when the '
  'snapshot of the round was the newest. Every refresh of the round has to find as many; null: not known.';

create table lake.refresh (
  id                bigint generated always as identity primary key,
  round_id          bigint not null references lake.round,
  dt_id             bigint not null references lake.dt on delete cascade,
  generation        integer not null,
  state             text not null default 'SCHEDULED',
  action            text,
  reason            text,
  task_id           bigint,
  fence             bigint not null default 0,
  from_epoch        bigint,
  checked_snapshot  bigint,
  to_reads          jsonb,
  rows_after        bigint,
  buckets           integer,
  commit_snapshot   bigint,
  plan              jsonb,
  keys              bigint,
  inserted          bigint,
  deleted           bigint,
  figures           jsonb not null default '{}',
  cancel_code       text,
  error_code        text,
  error_text        text,
  created_at        timestamptz not null,
  queued_at         timestamptz,
  started_at        timestamptz,
  planned_at        timestamptz,
  published_at      timestamptz,
  finished_at       timestamptz,
  deadline_at       timestamptz,
  constraint refresh_state_is_known    check (state in ('SCHEDULED', 'EXECUTING', 'PUBLISHING', 'PUBLISHED',
                                                        'SUCCEEDED', 'FAILED', 'SKIPPED', 'UPSTREAM_FAILED',
                                                        'CANCELLED')),
  constraint refresh_end_has_time      check ((finished_at is not null) = (state in ('SUCCEEDED', 'FAILED', 'SKIPPED',
                                                                                     'UPSTREAM_FAILED',
                                                                                     'CANCELLED'))),
  constraint refresh_failure_has_code  check (state <> 'FAILED' or error_code is not null),
  constraint refresh_publish_has_reads check (state not in ('PUBLISHING', 'PUBLISHED')
                                              or (to_reads is not null and rows_after is not null)),
  constraint refresh_action_is_known   check (action in ('no_data', 'incremental', 'full', 'reinitialize', 'repair')),
  constraint refresh_is_once_in_round  unique (round_id, dt_id)
);
comment on table lake.refresh is
  'Refreshes: one dynamic table in one round. generation: of the definition that was in force when the round was '
  'opened; the round reads no other content of the table. fence: the attempt that holds it. from_epoch: the frontier '
  'it computes from. PUBLISHING: about to commit to the lake; PUBLISHED: committed, the frontier has moved.';
-- What is under way for a table, and its history.
create index refresh_open on lake.refresh (dt_id) where finished_at is null;
create index refresh_history on lake.refresh (dt_id, id desc);

create table lake.idle (
  dt_id    bigint not null references lake.dt on delete cascade,
  until    timestamptz not null,
  seen_at  timestamptz[] not null,
  data_at  timestamptz[] not null,
  constraint idle_is_in_pairs check (cardinality(seen_at) = cardinality(data_at))
);
comment on table lake.idle is
  'What is left of refreshes that had nothing to do, once they are forgotten: when each was over, the newest of them '
  'at until, and the time whose data the table held from then on. In arrays, because there are far more of them than '
  'of all others.';
-- lag_stats: those of one table.
create index idle_table on lake.idle (dt_id);

create table lake.artifact (
  path        text primary key,
  refresh_id  bigint not null,
  task_id     bigint not null,
  fence       bigint not null,
  kind        text not null,
  made_at     timestamptz not null,
  constraint artifact_kind_is_known check (kind in ('keys', 'deletes', 'data', 'table', 'load'))
);
comment on table lake.artifact is
  'Files of refreshes outside the catalog. A row is written before its file, and goes when the file is registered or '
  'removed. A path that ends with a slash is a folder; of kind table it is the directory of a table''s content, in '
  'which a commit that did not happen may have left files that only a comparison with the catalog finds. Of kind '
  'load it is the folder of a load, which belongs to no refresh: it lives while a session holds lake.load_key(path).';
-- sweep: the files of one refresh.
create index artifact_refresh on lake.artifact (refresh_id);

-- Numbers our entries in DuckLake's list of files to delete: above all other numbers, and each once, because DuckLake
-- deletes entries by number.
create sequence lake.deletion start 4611686018427387904;

create table lake.cost_sample (
  id      bigint generated always as identity,
  dt_id   bigint not null references lake.dt on delete cascade,
  action  text not null,
  units   double precision not null,
  ms      double precision not null,
  at      timestamptz not null
);
comment on table lake.cost_sample is
  'What the newest refreshes of a table took, for predictions; 20 of each action are kept.';
-- cost_samples: the newest of an action.
create index cost_sample_newest on lake.cost_sample (dt_id, action, id desc);

create table lake.audit_run (
  dt_id     bigint not null references lake.dt on delete cascade,
  snapshot  bigint not null,
  missing   bigint not null,
  extra     bigint not null,
  ms        double precision not null,
  at        timestamptz not null
);
comment on table lake.audit_run is
  'Comparisons of a table with its query at its data snapshot: rows that were missing, rows too many.';
-- The last one of a table, and those that are too old.
create index audit_run_newest on lake.audit_run (dt_id, at desc);

insert into worker.queue_registry (queue, mode, concurrency, description)
values ('lake', 'concurrent', 1, 'Refreshes of dynamic tables.'),
       ('lake_schedule', 'serial', 1, 'Finds out which dynamic tables are due.')
on conflict do nothing;
