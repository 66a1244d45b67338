-- Why: the reports on statistical units, and what is staged for them. Locks: nothing, the tables are new.

create type register.period as (
  resolution  text,
  year        smallint,
  month       smallint,
  first_day   date,
  last_day    date,
  prev_first  date,
  prev_last   date
);
comment on type register.period is 'A year or a month, by its first and last day, and those of the one before it.';

create table register.report_state (
  report            text primary key,
  applied_flush_id  bigint,
  through           date,
  constraint report_state_report_is_known
    check (report in ('statistical_history', 'statistical_unit_facet', 'statistical_history_facet'))
);
comment on table register.report_state is
  'How far each report is, written in the transaction that brought it there: the last flush it has in it (null: to be '
  'rebuilt), and the last day of its last period.';
insert into register.report_state (report)
values ('statistical_history'), ('statistical_unit_facet'), ('statistical_history_facet');

create unlogged table register.staging_mark (
  round_id  bigint primary key
);
comment on table register.staging_mark is
  'Written before a round stages anything for its reports. A crash of the server empties it together with all that was '
  'staged: a round that does not find its mark has lost rows.';

create unlogged table register.report_cell (
  round_id                         bigint not null,
  report                           text collate "C" not null,
  partition_seq                    integer not null,
  flush_id                         bigint not null,
  sign                             smallint not null,
  weight                           integer not null,
  facet_key                        uuid not null,
  unit_type                        text collate "C" not null,
  unit_id                          integer,
  valid_from                       date not null,
  valid_until                      date not null,
  next_from                        date not null,
  birth_key                        date,
  death_key                        date,
  used_for_counting                boolean not null,
  primary_activity_category_path   text collate "C",
  secondary_activity_category_path text collate "C",
  sector_path                      text collate "C",
  legal_form_id                    integer,
  physical_region_path             text collate "C",
  physical_country_id              integer,
  unit_size_id                     integer,
  status_id                        integer,
  name                             text,
  address_key                      text,
  moments                          register.moment[],
  value_counts                     jsonb,
  constraint report_cell_report_is_known check (report in ('history', 'facet'))
-- Here and below: between rounds these tables are empty. What the server finds then would mislead the planner.
) with (autovacuum_analyze_threshold = 2000000000);
comment on table register.report_cell is
  'Unit rows that look the same to a report, counted; or one row of a unit, where rows of a unit are compared with '
  'each other. Cells of one key may share its weight: only their sum matters. partition_seq below 0: cells that '
  'extremes are looked up in.';

create type register.measures as (
  exists_count                              integer,
  exists_change                             integer,
  exists_added_count                        integer,
  exists_removed_count                      integer,
  countable_count                           integer,
  countable_change                          integer,
  countable_added_count                     integer,
  countable_removed_count                   integer,
  births                                    integer,
  deaths                                    integer,
  name_change_count                         integer,
  primary_activity_category_change_count    integer,
  secondary_activity_category_change_count  integer,
  sector_change_count                       integer,
  legal_form_change_count                   integer,
  physical_region_change_count              integer,
  physical_country_change_count             integer,
  physical_address_change_count             integer,
  unit_size_change_count                    integer,
  status_change_count                       integer
);
comment on type register.measures is
  'What is counted of the units of a group in a period: how many are there at its end and how many of them count, what '
  'came and went since the end of the period before, births and deaths, and changes. history_sums says how, '
  'add_measures adds two.';

create table register.statistical_history_row (
  resolution                        text collate "C" not null,
  year                              smallint not null,
  month                             smallint,
  facet_key                         uuid not null,
  unit_type                         text collate "C" not null,
  primary_activity_category_path    text collate "C",
  secondary_activity_category_path  text collate "C",
  sector_path                       text collate "C",
  legal_form_id                     integer,
  physical_region_path              text collate "C",
  physical_country_id               integer,
  unit_size_id                      integer,
  status_id                         integer,
  unit_count                        integer not null,
  measures                          register.measures not null,
  moments                           register.moment[],
  value_counts                      jsonb,
  constraint statistical_history_row_resolution_is_known check (resolution in ('year', 'year-month')),
  constraint statistical_history_row_month               check ((month is null) = (resolution = 'year'))
);
comment on table register.statistical_history_row is
  'Units by period and type: those there at its end, what came and went, what changed. facet_key is made from the '
  'type; no dimension has a value. unit_count: units that the row is about; a row without any does not exist.';
-- The key. A period is one number, so that an index finds the single row: a month that may be null cannot be looked up.
create unique index statistical_history_key
  on register.statistical_history_row (facet_key, (year * 100 + coalesce(month, 0)));

create table register.statistical_unit_facet_row (
  facet_key                       uuid primary key,
  valid_from                      date not null,
  valid_until                     date not null,
  unit_type                       text collate "C" not null,
  physical_region_path            text collate "C",
  primary_activity_category_path  text collate "C",
  sector_path                     text collate "C",
  legal_form_id                   integer,
  physical_country_id             integer,
  status_id                       integer,
  count                           integer not null,
  moments                         register.moment[],
  value_counts                    jsonb,
  constraint statistical_unit_facet_row_counts check (count > 0)
) with (fillfactor = 85); -- small rounds update rows in their pages
comment on table register.statistical_unit_facet_row is
  'Counted units by validity, type and six dimensions. facet_key is made from all of these, so that equality is one '
  'comparison.';
-- Drill-down at a date.
create index statistical_unit_facet_valid on register.statistical_unit_facet_row (valid_from, valid_until);

create table register.statistical_history_facet_row (
  like register.statistical_history_row including constraints
) with (fillfactor = 85); -- small rounds update rows in their pages
comment on table register.statistical_history_facet_row is
  'The history by eight dimensions besides. facet_key is made from the type and the dimensions.';
-- The key.
create unique index statistical_history_facet_key
  on register.statistical_history_facet_row (facet_key, (year * 100 + coalesce(month, 0)));
-- One year of all facets. Two indexes of numbers are made in half the time that one with the resolution in it takes.
create index statistical_history_facet_year on register.statistical_history_facet_row (year) where resolution = 'year';
-- One month of all facets.
create index statistical_history_facet_month
  on register.statistical_history_facet_row (year, month) where resolution = 'year-month';

create unlogged table register.statistical_history_staging (
  round_id        bigint not null,
  batch_seq       integer not null,
  like register.statistical_history_row,
  removed         register.moment[],
  removed_counts  jsonb,
  is_merged       boolean not null default false,
  merged          register.moment[]
) with (autovacuum_analyze_threshold = 2000000000);
comment on table register.statistical_history_staging is
  'Periods of the history, and after it of the history by facet, that children have computed and the end of the stage '
  'has not yet published; removed: what the moments lose; merged: the moments as they will be, where is_merged.';
