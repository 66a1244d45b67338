-- Why: statistical units, published and staged. Locks: nothing, the tables are new. The tables hold ids and numbers;
-- views of the plain names add codes, paths and names, so that a label is never stale.

create type register.moment as (
  stat_definition_id  integer,
  n                   bigint,
  total               numeric,
  squares             numeric,
  min                 numeric,
  min_count           bigint,
  max                 numeric,
  max_count           bigint
);
comment on type register.moment is
  'What is known of the values of a variable: number, sum, sum of squares, extremes and how many rows hold them. Exact '
  'numbers: the order in which values come together changes no digit. min_count, max_count: null is one row, 0 is not '
  'counted.';

-- What reports read of a row comes first: to read a row stops at the last column that is requested. Lists and texts
-- that they do not read come last.
create table register.statistical_unit_row (
  hash_slot                       smallint not null,
  is_only                         boolean not null,
  used_for_counting               boolean not null,
  unit_id                         integer not null,
  valid_from                      date not null,
  valid_until                     date not null,
  next_from                       date not null,
  unit_type                       text collate "C" not null,
  birth_date                      date,
  death_date                      date,
  primary_activity_category_id    integer,
  secondary_activity_category_id  integer,
  sector_id                       integer,
  legal_form_id                   integer,
  physical_region_id              integer,
  physical_country_id             integer,
  unit_size_id                    integer,
  status_id                       integer,
  moments                         register.moment[],
  value_counts                    jsonb,
  name                            text,
  physical_address_part1          text,
  physical_address_part2          text,
  physical_address_part3          text,
  physical_postcode               text,
  physical_postplace              text,
  postal_region_id                integer,
  postal_country_id               integer,
  data_source_ids                 integer[],
  has_legal_unit                  boolean not null,
  primary_legal_unit_id           integer,
  primary_establishment_id        integer,
  last_edit_at                    timestamptz,
  physical_latitude               numeric(9, 6),
  physical_longitude              numeric(9, 6),
  physical_altitude               numeric(6, 1),
  related_establishment_ids       integer[],
  excluded_establishment_ids      integer[],
  included_establishment_ids      integer[],
  related_legal_unit_ids          integer[],
  excluded_legal_unit_ids         integer[],
  included_legal_unit_ids         integer[],
  related_enterprise_ids          integer[],
  excluded_enterprise_ids         integer[],
  included_enterprise_ids         integer[],
  stat_values                     jsonb,
  postal_address_part1            text,
  postal_address_part2            text,
  postal_address_part3            text,
  postal_postcode                 text,
  postal_postplace                text,
  web_address                     text,
  email_address                   text,
  phone_number                    text,
  landline                        text,
  mobile_number                   text,
  fax_number                      text,
  last_edit_by                    text,
  last_edit_comment               text,
  constraint statistical_unit_row_type_is_known
    check (unit_type in ('establishment', 'legal_unit', 'enterprise', 'power_group')),
  constraint statistical_unit_row_valid         check (valid_from < valid_until and valid_until <= next_from),
  constraint statistical_unit_row_has_a_slot    check (hash_slot between 0 and 16383)
);
comment on table register.statistical_unit_row is
  'Units of all four kinds, one row for each stretch of time in which nothing about them changes. next_from: start of '
  'the unit''s next row, or infinity; is_only: it has no other row. primary_*_id: the unit that describes an '
  'enterprise, the root of a power group. stat_values: own values by the id of their variable; moments, value_counts '
  '({"<variable>": {"<value>": number}}): of the unit and all it includes. hash_slot: share of the facets '
  'that the row is counted in.';
-- The key. No primary key: to make one of an index that is built later, nobody may read the table.
create unique index statistical_unit_key on register.statistical_unit_row (unit_type, unit_id, valid_from);

create unlogged table register.statistical_unit_staging (
  round_id   bigint not null,
  batch_seq  integer not null,
  like register.statistical_unit_row
);
comment on table register.statistical_unit_staging is
  'Rows that batches have derived and the flush has not yet published. Lost in a crash of the server: round_batch '
  'tells.';

create table register.statistical_unit_change (
  flush_id  bigint not null,
  sign      smallint not null,
  like register.statistical_unit_row,
  constraint statistical_unit_change_sign_is_known check (sign in (-1, 1))
);
comment on table register.statistical_unit_change is
  'All rows of every unit that a flush changed: as they were, with sign -1, and as they became, with +1. Reports add '
  'them up. Rows go when every report has them.';
-- Changes that a report has not yet applied.
create index statistical_unit_change_flush on register.statistical_unit_change (flush_id);

create sequence register.flush_id;
comment on sequence register.flush_id is 'Numbers the flushes, in the order they were made.';

create table register.statistical_unit_facet_dirty_partitions (
  flush_id   bigint not null,
  hash_slot  smallint not null,
  primary key (flush_id, hash_slot)
);
comment on table register.statistical_unit_facet_dirty_partitions is 'Slots with rows that a flush changed.';

create table register.used_code (
  kind       text collate "C" not null,
  code_id    integer not null,
  row_count  bigint not null,
  primary key (kind, code_id),
  constraint used_code_kind_is_known
    check (kind in ('activity', 'region', 'sector', 'legal_form', 'country', 'data_source')),
  constraint used_code_is_used       check (row_count > 0)
);
comment on table register.used_code is 'How many rows of statistical units name a code.';
