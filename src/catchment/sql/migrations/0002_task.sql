-- Why: the state of a task. Its definition is written once; each unsettled task has exactly one row in one of ready,
-- running, blocked and scope; a settled one has a row in outcome. Locks: nothing, the tables are new.

create table if not exists worker.task (
  id            bigint generated always as identity primary key,
  command       text not null,
  queue_id      integer not null,
  kind          "char" not null,
  payload       jsonb not null,
  priority      integer not null,
  parent_id     bigint,
  root_id       bigint,
  depth         smallint not null default 0,
  follows_id    bigint,
  place         bigint not null,
  lane          text,
  dedup_key     text,
  gate          text,
  scheduled_at  timestamptz,
  max_attempts  integer not null,
  created_at    timestamptz not null,
  trace         text,
  constraint task_payload_is_object      check (jsonb_typeof(payload) = 'object'),
  constraint task_child_has_root         check ((parent_id is null) = (root_id is null)),
  constraint task_child_has_depth        check ((parent_id is null) = (depth = 0)),
  constraint task_child_has_no_lane      check (parent_id is null or lane is null),
  constraint task_lane_is_named          check (lane <> '' and length(lane) <= 500),
  constraint task_max_attempts_positive  check (max_attempts >= 1),
  constraint task_kind_is_known          check (kind in ('s', 'p')),
  constraint task_trace_is_short         check (length(trace) <= 200)
) with (autovacuum_vacuum_insert_scale_factor = 0.2, autovacuum_analyze_scale_factor = 0.1);
comment on table worker.task is
  'The request of a task. Written once; only a never-tried task may still get another payload, priority or due time.';
comment on column worker.task.place is
  'Order of arrival. The id, except for a follow-up, which stands where its root stood.';
comment on column worker.task.trace is
  'Who asked for it, as a W3C traceparent: the span that its run continues.';

-- Children of a task: the scope''s close, trees, retries.
create index if not exists task_parent on worker.task (parent_id, id) where parent_id is not null;
-- Follow-ups of a root that is retried.
create index if not exists task_follows on worker.task (follows_id) where follows_id is not null;
-- explain: who holds a place at a gate, the newest first.
create index if not exists task_gate on worker.task (gate, id) where gate is not null;

create table if not exists worker.ready (
  queue_id       integer not null,
  kind           "char" not null,
  tier           smallint not null,
  band           integer not null,
  rank           smallint not null,
  place          bigint not null,
  id             bigint not null,
  phase          smallint not null default 0,
  attempt        integer not null default 0,
  failures       integer not null default 0,
  interruptions  integer not null default 0,
  since          timestamptz not null,
  primary key (queue_id, kind, tier, band, rank, place, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_threshold = 1000);
comment on table worker.ready is
  'Tasks that can start now, and nothing else: the only table a claim scans, in the order of its key. tier 0: children '
  'and joins, 1: top level. band: the priority, lowered by ageing. rank 0: interrupted, 1: the rest. phase 1: a join.';

-- One task by id: cancel, merge, change of priority.
create unique index if not exists ready_id on worker.ready (id);

-- Interrupted tasks for people: few, or none.
create index if not exists ready_interrupted on worker.ready (id) where rank = 0;

create table if not exists worker.claim_position (
  name          text primary key,
  tier          smallint not null,
  band          integer not null,
  rank          smallint not null,
  place         bigint not null,
  id            bigint not null,
  looked_at     timestamptz not null,
  cost          interval not null,
  published_at  timestamptz not null
);
comment on table worker.claim_position is
  'How far claims have come in ready, for sessions that start while an old snapshot keeps its dead rows: what the last '
  'look from the start took, and when it was. Empty in good health.';

create sequence if not exists worker.fence;

-- Keeps the first attempt that each session has claimed last; the session itself cannot change it. See begin_session.
create sequence if not exists worker.batch;

create table if not exists worker.running (
  id             bigint primary key,
  fence          bigint not null,
  worker_id      bigint,
  worker_pid     integer,
  backend_key    bigint,
  queue_id       integer not null,
  tier           smallint not null,
  band           integer not null,
  phase          smallint not null,
  attempt        integer not null,
  failures       integer not null,
  interruptions  integer not null,
  started_at     timestamptz not null,
  deadline_at    timestamptz,
  is_plain       boolean not null,
  has_lane       boolean not null,
  has_merged     boolean not null default false,
  cancel_reason  text,
  expired_at     timestamptz,
  progress       jsonb,
  constraint running_has_owner check (worker_id is not null or backend_key is not null)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);
comment on table worker.running is
  'Attempts in progress. Every write of a worker carries the fence of its attempt. A SQL task belongs to the session '
  'that holds backend_key, a Python task to its worker. is_plain: nothing but its scope or its lane hears of its '
  'completion (no hook, no join).';

-- What SQL handlers hold: deadlines, cancels, lost sessions; the last attempt of one session, whatever dead rows it has
-- left.
create index if not exists running_backend on worker.running (backend_key, fence) where backend_key is not null;
create index if not exists running_deadline on worker.running (deadline_at) where deadline_at is not null;

create table if not exists worker.blocked (
  id             bigint primary key,
  reason         text not null,
  wait_id        bigint,
  due_at         timestamptz,
  queue_id       integer not null,
  kind           "char" not null,
  tier           smallint not null,
  band           integer not null,
  rank           smallint not null,
  place          bigint not null,
  lane           text,
  phase          smallint not null default 0,
  attempt        integer not null default 0,
  failures       integer not null default 0,
  interruptions  integer not null default 0,
  constraint blocked_phase_is_known  check (phase in (0, 1, 2)),
  constraint blocked_reason_is_known check (reason in ('scheduled', 'retry', 'snooze', 'lane', 'serial', 'follow_up',
                                                       'merged', 'limit')),
  constraint blocked_until_due       check ((due_at is not null) = (reason in ('scheduled', 'retry', 'snooze'))),
  constraint blocked_behind_task     check ((wait_id is not null) = (reason in ('serial', 'follow_up', 'merged'))),
  constraint blocked_in_lane         check (reason not in ('lane', 'limit') or lane is not null)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);
comment on table worker.blocked is
  'Unsettled tasks that cannot start yet, each with its reason: not due, its handler snoozes, its lane is busy, its '
  'serial sibling is at work, its root has not completed, it was folded into another task, or its limit (lane is its '
  'gate) is reached. phase 1: a join, 2: a scope to be reopened.';

-- promote_due: what has become due.
create index if not exists blocked_due on worker.blocked (due_at) where due_at is not null;
-- The next serial sibling, the follow-ups of a root, the tasks folded into a survivor.
create index if not exists blocked_wait on worker.blocked (wait_id, band, place, id) where wait_id is not null;
-- The next task of a lane.
create index if not exists blocked_lane on worker.blocked (queue_id, lane, place, id) where reason = 'lane';
-- open_tasks: those of a queue; lanes have an index that begins with it. 7 bytes and 4 to 11 us for each of these, of
-- some 200 us that the enqueue of a scheduled task takes.
create index if not exists blocked_queue on worker.blocked (queue_id) where reason <> 'lane';
-- The next tasks behind a limit.
create index if not exists blocked_limit on worker.blocked (lane, band, place, id) where reason = 'limit';

create table if not exists worker.outcome (
  id            bigint primary key,
  state         text not null,
  attempt       integer not null,
  worker_pid    integer,
  started_at    timestamptz,
  stopped_at    timestamptz,
  completed_at  timestamptz not null,
  error         jsonb,
  info          jsonb,
  result        jsonb,
  merged_into   bigint,
  parent_id     bigint,
  constraint outcome_state_is_settled check (state in ('completed', 'failed', 'cancelled')),
  constraint outcome_failure_has_error check (state = 'completed' or error is not null)
) with (autovacuum_vacuum_insert_scale_factor = 0.2);
comment on table worker.outcome is 'How each settled task ended. Appended; only a retry takes a row away.';
comment on column worker.outcome.parent_id is
  'The parent of a task that failed or was cancelled: its scope finds those among any number of children.';

-- ended_tasks: the ends since a moment, in their order. Entries are added at its right end: an insert of 50 outcomes
-- takes 2 us more for each (10 us without it) and 7 bytes, because a batch has one moment.
create index if not exists outcome_ended on worker.outcome (completed_at);
-- Failures for people: a small share of the table.
create index if not exists outcome_trouble on worker.outcome (completed_at) where state <> 'completed';
-- The failed and the cancelled children of a scope: its page, its error, its retry.
create index if not exists outcome_parent on worker.outcome (parent_id, state, id)
  where state <> 'completed' and parent_id is not null;
-- Tasks folded into one that is retried.
create index if not exists outcome_merged on worker.outcome (merged_into) where merged_into is not null;

create table if not exists worker.attempt (
  task_id     bigint not null,
  attempt     integer not null,
  phase       smallint not null default 0,
  state       text not null,
  is_last     boolean not null default false,
  worker_pid  integer,
  started_at  timestamptz,
  ended_at    timestamptz not null,
  error       jsonb not null,
  constraint attempt_state_is_known check (state in ('failed', 'interrupted', 'cancelled', 'released'))
);
comment on table worker.attempt is
  'The error of every attempt that did not complete. released: its handler ran, and its worker gave it back and '
  'stopped; such an attempt is not counted, and the next one has its number. phase 1: a run of the join; its numbers '
  'continue those of the handler. phase 2: a task settled by its children, kept when it is retried manually. is_last: '
  'the task settled with it; what came later was retried manually.';
create index if not exists attempt_task on worker.attempt (task_id, attempt);

create table if not exists worker.snoozed (
  task_id  bigint primary key,
  times    integer not null,
  until    timestamptz not null,
  at       timestamptz not null,
  reason   text
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
comment on table worker.snoozed is
  'Tasks whose handlers have snoozed: how often, and until when the last time. One row for each, however often: a '
  'handler can wait for something by snoozing, forever.';

create table if not exists worker.pending_key (
  dedup_key  text not null,
  id         bigint not null,
  primary key (dedup_key, id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
comment on table worker.pending_key is
  'Never-tried tasks of deduplicated commands by their key. Not unique: enqueues never wait for each other, the claim '
  'folds.';
