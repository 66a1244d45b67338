-- Why: strict order per key across all workers. Locks: nothing, the tables are new.

create table if not exists worker.lane (
  queue_id     integer not null,
  lane         text not null,
  head_id      bigint,
  first_place  bigint not null default 0,
  last_place   bigint not null default 0,
  halted_at    timestamptz,
  primary key (queue_id, lane),
  constraint lane_halts_on_its_head check (halted_at is null or head_id is not null),
  constraint lane_has_head          check (lane = '' or head_id is not null)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);
comment on table worker.lane is
  'Lanes that have work. head_id is the task that holds the lane, wherever it is: ready, running, waiting for its '
  'scope or for its retry. The tasks admitted behind it stand in blocked between first_place and last_place. A lane '
  'without a row is idle. The empty key is the top level of a serial queue; its row stays.';

-- Halted lanes for people: few, or none.
create index if not exists lane_halted on worker.lane (halted_at) where halted_at is not null;

create table if not exists worker.arrival (
  arrival_id   bigint generated always as identity primary key,
  queue_id     integer not null,
  lane         text not null,
  first_place  bigint not null,
  last_place   bigint not null
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
comment on table worker.arrival is
  'Enqueues to a lane that no claimer has admitted yet. Appending here is all an enqueue does about lanes, so it waits '
  'for nobody.';

create table if not exists worker.turn (
  name      text primary key,
  position  bigint not null default 0
);
comment on table worker.turn is
  'What is done by one session at a time, for a transaction: who holds the row has the turn. Rows, not advisory locks: '
  'any login can take one of those, and keep it. position: how far a walk through a large table has come.';
insert into worker.turn (name) values ('upkeep'), ('admission'), ('position'), ('chores') on conflict do nothing;

create table if not exists worker.gate (
  gate         text primary key,
  command      text not null,
  held         integer not null default 0,
  tokens       double precision not null,
  refilled_at  timestamptz not null,
  next_at      timestamptz,
  constraint gate_held_is_natural check (held >= 0)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
comment on table worker.gate is
  'Limits at work, one row for each command and value of its limit_key. held: tasks let in and not settled; tokens: '
  'starts that the rate still allows, as of refilled_at; next_at: when the next waiting task may start, where only the '
  'rate holds it up.';
-- let_in: gates that open by themselves.
create index if not exists gate_next on worker.gate (next_at) where next_at is not null;

create table if not exists worker.gate_arrival (
  arrival_id  bigint generated always as identity primary key,
  gate        text not null,
  command     text not null,
  freed       integer not null default 0,
  unused      integer not null default 0
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
comment on table worker.gate_arrival is
  'Tasks that came to a gate since anybody looked: an enqueue only appends. freed and unused: places and tokens that '
  'tasks gave back while another transaction held the gate.';

create table if not exists worker.queue_meter (
  queue_id     integer primary key,
  tokens       double precision not null,
  refilled_at  timestamptz not null
) with (fillfactor = 50);
comment on table worker.queue_meter is
  'Starts that the rate of a queue still allows, as of refilled_at. Claims of a limited queue take turns on its row.';
