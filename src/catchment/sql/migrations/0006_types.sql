-- Why: the row types that engine functions pass to each other. Locks: nothing, the types are new.

create type worker.claimed as (
  id           bigint,
  fence        bigint,
  command      text,
  payload      jsonb,
  attempt      integer,
  phase        smallint,
  parent_id    bigint,
  depth        smallint,
  lane         text,
  queue_id     integer,
  timeout      interval,
  failures     integer,
  max_attempts integer,
  is_plain     boolean,
  has_twins    boolean,
  trace        text,
  before_procedure text
);
comment on type worker.claimed is 'A task as its worker gets it.';

create type worker.run as (
  id                bigint,
  command           text,
  queue_id          integer,
  kind              "char",
  tier              smallint,
  band              integer,
  place             bigint,
  parent_id         bigint,
  depth             smallint,
  lane              text,
  phase             smallint,
  attempt           integer,
  failures          integer,
  interruptions     integer,
  max_attempts      integer,
  worker_pid        integer,
  started_at        timestamptz,
  deadline_at       timestamptz,
  child_mode        text,
  on_child_failure  text,
  has_after         boolean,
  has_merged        boolean,
  has_follow_up     boolean,
  cancel_reason     text,
  expired_at        timestamptz
);
comment on type worker.run is
  'A running attempt with what its task says. lane is empty text for the top level of a serial queue.';

create type worker.ended as (
  run     worker.run,
  asked   text,
  fate    text,
  error   jsonb,
  info    jsonb,
  result  jsonb
);
comment on type worker.ended is
  'An attempt that ended, as what, and what becomes of its task: completed, failed, cancelled, waiting, retry, '
  'interrupted, released or snoozed.';

create type worker.settled as (
  id             bigint,
  state          text,
  command        text,
  parent_id      bigint,
  depth          smallint,
  queue_id       integer,
  lane           text,
  place          bigint,
  was_active     boolean,
  has_info       boolean,
  has_after      boolean,
  has_merged     boolean,
  has_follow_up  boolean
);
comment on type worker.settled is 'A task that has just settled, with what its settling may touch.';

create type worker.scope_change as (
  scope_id   bigint,
  depth      smallint,
  settled    integer,
  failed     integer,
  cancelled  integer,
  spawned    integer,
  has_info   boolean,
  advances   boolean
);
comment on type worker.scope_change is
  'What one transaction does to the counters of a scope. depth is the scope''s own.';

create type worker.lane_head as (
  id          bigint,
  command     text,
  queue_id    integer,
  lane        text,
  has_failed  boolean
);
comment on type worker.lane_head is
  'The head of a lane that leaves it: it has settled, was put off, or is skipped. lane is empty text for a serial '
  'queue.';

create type worker.held_lane as (
  row_id       tid,
  queue_id     integer,
  lane         text,
  first_place  bigint,
  last_place   bigint,
  head_id      bigint,
  policy       text
);
comment on type worker.held_lane is
  'A lane row by its position, the head that has just settled or will be next, and what a failure does to the lane.';

create type worker.sql_run as (
  id             bigint,
  fence          bigint,
  command        text,
  payload        jsonb,
  signature      text,
  name           text,
  is_join        boolean,
  before_call    text,
  attempt        integer,
  failures       integer,
  max_attempts   integer,
  is_batched     boolean
);
comment on type worker.sql_run is
  'A claimed task with the signature of its handler and the CALL that runs its hook. is_batched: it may share a '
  'transaction with others.';

create type worker.cron as (
  minutes      integer[],
  hours        integer[],
  days         integer[],
  months       integer[],
  weekdays     integer[],
  any_day      boolean,
  any_weekday  boolean,
  is_fixed     boolean
);
comment on type worker.cron is
  'A parsed cron expression: the values of its fields, whether the day fields begin with * or ?, and whether neither '
  'minute nor hour begins with *. Sunday is 0.';

create type worker.condition as (
  kind         text,
  is_blocking  boolean,
  evidence     jsonb,
  words        text,
  remedy       text
);
comment on type worker.condition is
  'One answer to why something waits: its kind, whether it holds it back now, ids, states and times, a sentence for '
  'people, and a command that changes it or explains what is in the way; null where only time helps.';

create type worker.whereabouts as (
  at        text,
  reason    text,
  wait_id   bigint,
  due_at    timestamptz,
  queue_id  integer,
  kind      "char",
  tier      smallint,
  band      integer,
  rank      smallint,
  place     bigint,
  lane      text,
  phase     smallint,
  attempt   integer,
  failures  integer,
  since     timestamptz
);
comment on type worker.whereabouts is
  'Where an unsettled task stands: the columns that ready, blocked, running and scope have in common.';
