-- Why: workers, their heartbeats, sleepers and schedules. Locks: nothing, the tables are new.

create table if not exists worker.worker (
  worker_id           bigint generated always as identity primary key,
  name                text not null,
  pid                 integer,
  version             text,
  lock_key            bigint,
  lock_pid            integer,
  lease_until         timestamptz not null,
  lock_lost_at        timestamptz,
  started_at          timestamptz not null,
  seen_at             timestamptz not null,
  queues              text[] not null default '{}',
  python_queues       text[] not null default '{}',
  python_commands     text[],
  available_capacity  integer,
  max_capacity        integer,
  memory_usage        real,
  loop_lag            real,
  asked               text,
  asked_at            timestamptz,
  asked_by            text,
  constraint worker_asked_is_known check (asked in ('pause', 'drain'))
) with (fillfactor = 50);
comment on table worker.worker is
  'Live worker processes. Identity is the row, made at each start: never a pid or a host name, which are reused. '
  'pid is the process on its machine, lock_pid the session that holds lock_key; without one the worker lives by its '
  'lease alone. queues: those whose SQL handlers it runs, also ones made after its start. python_queues: those whose '
  'Python commands it runs; python_commands: which of them it has, null for all. memory_usage: share of its memory, '
  'loop_lag: seconds that its event loop was late at most, since the heartbeat before. asked: pause (it takes no '
  'tasks) or drain (neither, and it ends when nothing runs): see ask_worker.';

create table if not exists worker.top (
  queue_id   integer primary key,
  worker_id  bigint,
  taken_at   timestamptz
) with (fillfactor = 50);
comment on table worker.top is
  'Which worker runs the top level of each serial queue; the others stand by. A row, not an advisory lock: any login '
  'can take one of those. Order does not rest on it, but on the head of the lane.';

create table if not exists worker.trouble (
  step      text not null,
  item      text not null,
  sqlstate  text not null,
  message   text not null,
  count     integer not null default 1,
  first_at  timestamptz not null,
  last_at   timestamptz not null,
  retry_at  timestamptz not null,
  primary key (step, item)
);
comment on table worker.trouble is
  'What upkeep could not do: one row per step and item (empty: the step as a whole). The item is set aside until '
  'retry_at, so that the others continue; the row is deleted as soon as it works. catchment doctor names them.';

create table if not exists worker.audit (
  id       bigint generated always as identity primary key,
  at       timestamptz not null,
  actor    text not null,
  role     text not null,
  login    text not null,
  action   text not null,
  subject  text not null,
  request  jsonb,
  result   text not null,
  detail   text,
  constraint audit_result_is_known check (result in ('done', 'refused', 'failed'))
);
comment on table worker.audit is
  'What people did by hand, or tried to: actor is the user of the dashboard, login the role of the session. refused: '
  'not allowed, or not possible in the state things were in. Appended by write_audit, which nobody can undo but the '
  'owner. task_cleanup deletes rows after 90 days.';

-- task_cleanup: what is old.
create index if not exists audit_at on worker.audit (at);

create table if not exists worker.bulk (
  id          bigint generated always as identity primary key,
  task_id     bigint not null,
  verb        text not null,
  filter      jsonb not null,
  reason      text not null,
  actor       text not null,
  role        text not null,
  login       text not null,
  asked_at    timestamptz not null,
  expected    integer,
  last_at     timestamptz,
  last_id     bigint not null default 0,
  done        bigint not null default 0,
  skipped     bigint not null default 0,
  problem     text,
  audited_at  timestamptz,
  constraint bulk_task_is_unique unique (task_id),
  constraint bulk_verb_is_known  check (verb in ('retry', 'cancel'))
);
comment on table worker.bulk is
  'Retries and cancels of all tasks that match a filter, each done by a task. expected: how many tasks matched at the '
  'request, null for more than were counted. last_at and last_id: the progress. problem: why the first '
  'of those skipped could not be changed.';

-- Keeps the key of each session that runs SQL handlers; the session itself cannot change it. See hold_backend_lock.
create sequence if not exists worker.backend;

create unlogged table if not exists worker.sleeper (
  worker_id  bigint not null,
  queue_id   integer not null,
  tier       smallint not null,
  kind       "char" not null,
  primary key (queue_id, tier, worker_id, kind)
);
comment on table worker.sleeper is
  'Workers asleep on a queue: for children (tier 0), for the top level (1), or until a serial queue''s lane is free '
  '(2). Only they are notified. kind tells the fibers of a worker from its Python side. Unlogged: after a crash every '
  'worker polls once anyway.';

create table if not exists worker.schedule (
  name          text primary key,
  command       text not null references worker.command_registry (command) on update cascade,
  payload       jsonb not null default '{}',
  every         interval,
  cron          text,
  timezone      text not null default 'UTC',
  missed        text not null default 'one',
  overlap       text not null default 'allow',
  due_key       text,
  lane          text,
  priority      integer,
  next_at       timestamptz,
  last_at       timestamptz,
  last_task_id  bigint,
  recent_ids    bigint[] not null default '{}',
  runs          bigint not null default 0,
  enabled       boolean not null default true,
  is_declared   boolean not null default false,
  constraint schedule_name_is_short      check (name <> '' and length(name) <= 500),
  constraint schedule_has_one_rhythm     check ((every is null) <> (cron is null)),
  constraint schedule_every_is_positive  check (every >= interval '1 second'),
  constraint schedule_cron_is_short      check (length(cron) <= 500),
  constraint schedule_payload_is_object  check (jsonb_typeof(payload) = 'object'),
  constraint schedule_missed_is_known    check (missed in ('one', 'all', 'skip')),
  constraint schedule_overlap_is_known   check (overlap in ('allow', 'skip', 'wait', 'cancel')),
  constraint schedule_due_key_is_named   check (due_key <> '' and length(due_key) <= 200),
  constraint schedule_lane_is_named      check (lane <> '' and length(lane) <= 500)
);
comment on table worker.schedule is
  'Recurring tasks. A due row enqueues a task and moves next_at in the same transaction. missed: whether times that '
  'passed while no worker was alive get one run, a run each, or none. overlap: whether a time that comes before the '
  'last run has settled gets a concurrent run, none, a later one, or one that replaces it. due_key: the key of the '
  'payload that receives the time. '
  'recent_ids: its last ten tasks, the newest first. is_declared: it is in the code of an app, see declare_schedules.';

create table if not exists worker.schedule_run (
  schedule     text not null references worker.schedule (name) on update cascade on delete cascade,
  n            bigint not null,
  due_at       timestamptz not null,
  missed_from  timestamptz,
  at           timestamptz not null,
  fate         text not null,
  task_id      bigint,
  primary key (schedule, n),
  constraint schedule_run_fate_is_known  check (fate in ('made', 'by_hand', 'overlap', 'missed')),
  constraint schedule_run_made_has_task  check ((task_id is not null) = (fate in ('made', 'by_hand')))
);
comment on table worker.schedule_run is
  'The outcome of each time of each schedule, the last 1000. missed_from: the first of the times that this one stands '
  'for. overlap and missed: no task was made, by the policy of that name.';

create table if not exists worker.schedule_source (
  name        text not null,
  digest      text not null,
  definition  jsonb not null,
  first_at    timestamptz not null,
  seen_at     timestamptz not null,
  worker_ids  bigint[] not null,
  primary key (name, digest)
);
comment on table worker.schedule_source is
  'Schedules as the code of workers has them, each version with the workers that have it. Of those that a live worker '
  'has, the one that was new last counts: see adopt_schedules.';

insert into worker.queue_registry (queue, description)
values ('maintenance', 'Upkeep of the engine itself.')
on conflict do nothing;

insert into worker.command_registry (command, queue, handler_procedure, dedup, description)
values ('task_cleanup', 'maintenance', 'worker.task_cleanup', '{}',
        'Deletes settled trees: completed ones after 7 days, others after 30; rows of the audit table after 90 '
        '(payload: completed_days, failed_days, audit_days).')
on conflict do nothing;

insert into worker.command_registry (command, queue, handler_procedure, dedup, merge, description)
values ('analyze_tables', 'maintenance', 'worker.analyze_tables', '{}', '{"tables": "union"}',
        'Collects planner statistics of tables (payload: tables, null for all that have changed).')
on conflict do nothing;

insert into worker.queue_registry (queue, mode, description)
values ('bulk_changes', 'concurrent', 'Retries and cancels of many tasks. Every worker serves it while there is one.')
on conflict do nothing;

insert into worker.command_registry (command, queue, handler_procedure, after_procedure, max_attempts, description)
values ('bulk_retry', 'bulk_changes', 'worker.run_bulk', 'worker.end_bulk', 1,
        'Retries all tasks that match a filter: see start_bulk.'),
       ('bulk_cancel', 'bulk_changes', 'worker.run_bulk', 'worker.end_bulk', 1,
        'Cancels all tasks that match a filter: see start_bulk.'),
       ('bulk_batch', 'bulk_changes', 'worker.run_bulk_batch', null, 5, 'The next tasks of a bulk.')
on conflict do nothing;

insert into worker.schedule (name, command, every)
values ('task_cleanup', 'task_cleanup', '1 day')
on conflict do nothing;

create table if not exists worker.commit_probe (filler text not null);
alter table worker.commit_probe alter column filler set storage external;
insert into worker.commit_probe select repeat('x', 4000) where not exists (select from worker.commit_probe);
comment on table worker.commit_probe is
  'One value stored out of line. A PL/pgSQL procedure that may commit fetches such a value when it is assigned (its '
  'storage could vanish with the commit); one inside a transaction block keeps the pointer. process_tasks tells the '
  'two apart by its size.';
