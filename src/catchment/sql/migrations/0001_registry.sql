-- Why: the two registries that say what can run and where. Locks: nothing, the tables are new.

create table if not exists worker.queue_registry (
  queue         text primary key,
  queue_id      integer generated always as identity,
  mode          text not null default 'serial',
  concurrency   integer not null default 1,
  max_depth     integer default 1,
  on_failure    text,
  age_every     interval not null default '1 minute',
  age_step      integer not null default 10,
  max_running   integer,
  rate          integer,
  rate_per      interval not null default '1 second',
  paused_at     timestamptz,
  paused_until  timestamptz,
  paused_by     text,
  description   text,
  created_at    timestamptz not null default clock_timestamp(),
  constraint queue_name_is_short        check (queue <> '' and length(queue) <= 200),
  constraint queue_id_is_unique         unique (queue_id),
  constraint queue_mode_is_known        check (mode in ('serial', 'concurrent')),
  constraint queue_concurrency_positive check (concurrency >= 1),
  constraint queue_max_depth_is_sane    check (max_depth between 1 and 32767),
  constraint queue_on_failure_is_known  check (on_failure in ('continue', 'halt', 'cancel_rest')),
  constraint queue_age_step_is_natural  check (age_step >= 0),
  constraint queue_max_running_positive check (max_running >= 1),
  constraint queue_rate_is_positive     check (rate >= 1 and rate_per > interval '0'),
  constraint queue_pause_is_readable    check (paused_until between timestamptz '0001-01-03 00:00:00+00'
                                                                and timestamptz '9999-12-29 00:00:00+00')
);
comment on table worker.queue_registry is
  'One row per queue. concurrency counts fibers of one worker process and includes the top fiber; on_failure is what a '
  'lane does after a final failure (null: a serial queue continues, a named lane halts). max_depth null: children at '
  'any depth. max_running and rate per rate_per limit the attempts of all workers together.';

create table if not exists worker.command_registry (
  command            text primary key,
  queue              text not null references worker.queue_registry (queue) on update cascade,
  handler_kind       text not null default 'sql',
  handler_procedure  text,
  before_procedure   text,
  after_procedure    text,
  join_procedure     text,
  handler_signature  text,
  join_signature     text,
  priority           integer not null default 100,
  max_attempts       integer not null default 1,
  retry_delay        interval not null default '1 second',
  retry_factor       double precision not null default 2,
  retry_max_delay    interval not null default '1 minute',
  retry_jitter       double precision not null default 0.1,
  timeout            interval,
  dedup              text[],
  merge              jsonb not null default '{}',
  on_failure         text,
  limit_key          text[],
  max_running        integer,
  rate               integer,
  rate_per           interval not null default '1 second',
  is_batched         boolean not null default true,
  description        text,
  payload_schema     jsonb,
  project            text,
  created_at         timestamptz not null default clock_timestamp(),
  constraint command_name_is_short         check (command <> '' and length(command) <= 200),
  constraint command_kind_is_known         check (handler_kind in ('sql', 'python')),
  constraint command_sql_has_handler       check (handler_kind <> 'sql' or handler_procedure is not null),
  constraint command_max_attempts_positive check (max_attempts >= 1),
  constraint command_retry_is_sane         check (retry_factor >= 1 and retry_jitter between 0 and 1),
  constraint command_timeout_positive      check (timeout > interval '0'),
  constraint command_merge_is_object       check (jsonb_typeof(merge) = 'object'),
  constraint command_merge_needs_dedup     check (merge = '{}' or dedup is not null),
  constraint command_on_failure_is_known   check (on_failure in ('continue', 'halt', 'cancel_rest')),
  constraint command_max_running_positive  check (max_running >= 1),
  constraint command_rate_is_positive      check (rate >= 1 and rate_per > interval '0'),
  constraint command_limit_has_key
    check ((limit_key is not null) = (max_running is not null or rate is not null)),
  constraint command_limit_without_dedup   check (limit_key is null or dedup is null),
  constraint command_schema_is_object      check (jsonb_typeof(payload_schema) = 'object')
);
comment on table worker.command_registry is
  'One row per command: its handler, its queue, and how it retries. dedup lists the payload keys that make two pending '
  'tasks the same work (an empty list: the command alone); merge says how the other keys are combined. limit_key lists '
  'the payload keys whose values share a limit (an empty list: the whole command): max_running tasks, rate starts per '
  'rate_per. is_batched: a worker may run several of its tasks in one transaction. handler_signature and '
  'join_signature are written by the engine: the procedures that the names mean. '
  'payload_schema is a JSON Schema of the payload, for forms; the engine does not check it. '
  'project is the folder of the program that has registered a Python command, on the embedded server only.';
