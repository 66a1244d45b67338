-- Why: a task that waits for its children, and what follows from its end. Locks: nothing, the tables are new.

create table if not exists worker.scope (
  id                  bigint primary key,
  state               text not null default 'waiting',
  open_children       integer not null,
  total_children      integer not null,
  failed_children     integer not null default 0,
  cancelled_children  integer not null default 0,
  child_mode          text not null,
  on_child_failure    text not null,
  has_child_info      boolean not null default false,
  is_joining          boolean not null default false,
  cancel_reason       text,
  command             text not null,
  queue_id            integer not null,
  kind                "char" not null,
  band                integer not null,
  place               bigint not null,
  parent_id           bigint,
  depth               smallint not null,
  lane                text,
  attempt             integer not null,
  has_after           boolean not null,
  has_merged          boolean not null,
  worker_pid          integer,
  started_at          timestamptz not null,
  stopped_at          timestamptz not null,
  info                jsonb,
  result              jsonb,
  constraint scope_state_is_known             check (state in ('waiting', 'completed', 'failed', 'cancelled')),
  constraint scope_children_are_counted       check (open_children between 0 and total_children),
  constraint scope_settles_after_its_children check (state = 'waiting' or open_children = 0),
  constraint scope_child_mode_is_known        check (child_mode in ('concurrent', 'serial')),
  constraint scope_on_child_failure_is_known  check (on_child_failure in ('wait', 'cancel_siblings'))
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
comment on table worker.scope is
  'One row per task that spawned children, made when its handler returned and kept for history. Its counter is written '
  'once per settled batch; the state cannot leave waiting while a child is open.';

-- Scopes that are open: lists and counts for people. A counter changes no column of it, so those updates stay cheap.
create index if not exists scope_waiting on worker.scope (id) where state = 'waiting';
-- The children of a scope that are open scopes themselves.
create index if not exists scope_parent on worker.scope (parent_id, id)
  where state = 'waiting' and parent_id is not null;

create unlogged table if not exists worker.late_child (
  xact       xid8 not null default pg_current_xact_id(),
  task_id    bigint not null,
  parent_id  bigint not null,
  primary key (xact, task_id)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
comment on table worker.late_child is
  'Children spawned into a scope that was already open, until it has counted them: at the latest when their '
  'transaction commits, so no row is ever seen by another. Only functions of the engine write here; no setting of a '
  'session decides.';

create unlogged table if not exists worker.offspring (
  xact              xid8 not null default pg_current_xact_id(),
  fence             bigint not null,
  child_mode        text,
  on_child_failure  text,
  primary key (xact, fence)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
comment on table worker.offspring is
  'Attempts that have made children or follow-ups in this transaction, which also ends them, with the mode and '
  'on_child_failure of their scope. Apart from running, so that the running row stays free for a cancel or a deadline '
  'meanwhile.';

create table if not exists worker.cancel_request (
  task_id       bigint not null,
  reason        text not null,
  requested_at  timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
comment on table worker.cancel_request is
  'Subtrees whose unstarted tasks still have to be settled as cancelled. The mark on the root came first; nothing '
  'under it starts while its row is here. sweep_cancelled empties this table; every claim looks whether it is empty.';
-- Claims, sessions and upkeep: whether there is any. explain: requests by task.
create index if not exists cancel_request_task on worker.cancel_request (task_id);

create table if not exists worker.after_call (
  task_id  bigint not null,
  command  text not null
);
comment on table worker.after_call is 'after_procedure calls that are due; each runs in a separate transaction.';

create table if not exists worker.warning (
  task_id   bigint,
  at        timestamptz not null,
  source    text not null,
  message   text not null
);
comment on table worker.warning is
  'Hooks that raised, commands that a worker does not know, and lanes that continued without their failed head. They '
  'change no state.';
create index if not exists warning_task on worker.warning (task_id);
-- doctor: the newest warnings.
create index if not exists warning_at on worker.warning (at);
