-- Why: logged changes, and the rounds that derive them. Locks: nothing, the tables are new.

create table register.base_change_log (
  id                           bigint generated always as identity primary key,
  establishment_ids            int4multirange,
  legal_unit_ids               int4multirange,
  enterprise_ids               int4multirange,
  power_group_ids              int4multirange,
  relationship_legal_unit_ids  int4multirange,
  valid_ranges                 datemultirange,
  rebuilds_reports             boolean not null default false,
  round_id                     bigint,
  logged_at                    timestamptz not null default clock_timestamp()
);
comment on table register.base_change_log is
  'One row for each statement that changed base data and each image of its rows, old and new: which units it touched, '
  'and in valid_ranges for what time, which is for people who look into it: derivation does not read it. A row belongs '
  'to the round that took it, and goes when that round has published everything; a broken round gives its rows back. '
  'rebuilds_reports: units are grouped by something that changed its place, so differences of units do not tell.';
-- Rows that no round has taken; rows of a round.
create index base_change_log_round on register.base_change_log (round_id, id);

create table register.round (
  id                             bigint generated always as identity primary key,
  kind                           text not null,
  state                          text not null default 'open',
  today                          date not null,
  establishment_ids              int4multirange not null default '{}',
  legal_unit_ids                 int4multirange not null default '{}',
  enterprise_ids                 int4multirange not null default '{}',
  power_group_ids                int4multirange not null default '{}',
  effective_establishment_ids    int4multirange,
  effective_legal_unit_ids       int4multirange,
  effective_enterprise_ids       int4multirange,
  effective_power_group_ids      int4multirange,
  effective_establishment_count  integer,
  effective_legal_unit_count     integer,
  effective_enterprise_count     integer,
  effective_power_group_count    integer,
  batch_count                    integer,
  rebuild                        boolean not null default false,
  flush_id                       bigint,
  flushed_at                     timestamptz,
  facets_reduced_at              timestamptz,
  started_at                     timestamptz not null default clock_timestamp(),
  ended_at                       timestamptz,
  failures                       integer not null default 0,
  constraint round_today_is_a_day  check (today between '1000-01-01' and '9998-12-31'),
  constraint round_kind_is_known   check (kind in ('changes', 'all', 'direct', 'reports', 'roll')),
  constraint round_state_is_known  check (state in ('open', 'done', 'broken')),
  constraint round_open_has_no_end check ((state = 'open') = (ended_at is null))
);
comment on table register.round is
  'A passage through derivation, from the collected changes to the last report. *_ids: what changed; effective_*: what '
  'is derived again (null: everything). rebuild: the reports are made from all units instead of from differences.';
-- Rounds never interleave: the table itself refuses a second open one.
create unique index round_one_open on register.round (state) where state = 'open';

create table register.first_fill (
  report    text collate "C" primary key,
  round_id  bigint not null,
  constraint first_fill_report_is_known check (report in ('statistical_unit', 'statistical_history_facet'))
);
comment on table register.first_fill is
  'Published tables that children of the open round fill for the first time, one beside the other and without indexes. '
  'Until everything is there, they are hidden from readers.';

create table register.round_batch (
  round_id           bigint not null,
  stage              text collate "C" not null,
  batch_seq          integer not null,
  staged_rows        integer not null,
  establishment_ids  int4multirange,
  legal_unit_ids     int4multirange,
  enterprise_ids     int4multirange,
  power_group_ids    int4multirange,
  primary key (round_id, stage, batch_seq),
  constraint round_batch_stage_is_known check (stage in ('units', 'history', 'facet', 'history_facet'))
);
comment on table register.round_batch is
  'What each batch of units has staged. Staging tables are emptied by a crash of the server; this table is not, so '
  'that the loss is seen. *_ids: units that the batch derived, also those that came to have no row.';

create unlogged table register.capture_pause (
  xact  xid8 primary key default pg_current_xact_id()
);
comment on table register.capture_pause is
  'Transactions that have paused capture, because their changes are noted in another way. Each deletes its row before '
  'it commits.';

create unlogged table register.collect_request (
  xact  xid8 primary key default pg_current_xact_id()
);
comment on table register.collect_request is
  'Transactions that have asked for their changes to be collected, so that each asks once. The next collection empties '
  'it.';

create table register.progress_notice (
  is_one       boolean primary key default true check (is_one),
  notified_at  timestamptz not null
);
comment on table register.progress_notice is
  'When listeners were last notified of the progress of derivation: at most twice a second.';
insert into register.progress_notice (notified_at) values ('-infinity');

create table register.pipeline_step_weight (
  step    text primary key,
  phase   text not null,
  seq     integer not null,
  weight  numeric not null,
  constraint pipeline_step_weight_phase_is_known check (phase in ('units', 'reports')),
  constraint pipeline_step_weight_is_positive    check (weight > 0)
);
comment on table register.pipeline_step_weight is
  'Share of a step in the time of its phase: what makes a percentage honest.';
insert into register.pipeline_step_weight (step, phase, seq, weight)
values ('collect_changes', 'units', 1, 1),
       ('derive_statistical_unit', 'units', 2, 66),
       ('derive_statistical_unit_continue', 'units', 3, 3),
       ('statistical_unit_flush_staging', 'units', 4, 30),
       ('derive_reports', 'reports', 5, 1),
       ('derive_statistical_history', 'reports', 6, 16),
       ('derive_statistical_unit_facet', 'reports', 7, 22),
       ('statistical_unit_facet_reduce', 'reports', 8, 16),
       ('derive_statistical_history_facet', 'reports', 9, 45);

alter table register.version add column derivation integer;
comment on column register.version.derivation is
  'The rules that everything published was derived by, or is asked to be; null until the first upgrade has ended.';

create type register.subject as (
  kind               text,
  name               text,
  establishment_ids  int4multirange,
  legal_unit_ids     int4multirange,
  enterprise_ids     int4multirange,
  power_group_ids    int4multirange
);
comment on type register.subject is
  'The subject of a question: the register, units (all of them), a report, or a unit. *_ids, of a unit: itself and all '
  'that it is made from.';
