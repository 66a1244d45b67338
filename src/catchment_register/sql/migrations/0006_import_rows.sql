-- Why: the rows of import jobs, as read, as linked to units, and as understood. Locks: nothing, the tables are new.

create table register.import_upload (
  job_id                            integer not null,
  row_no                            integer not null,
  problem                           jsonb,
  valid_from                        text,
  valid_to                          text,
  name                              text,
  short_name                        text,
  birth_date                        text,
  death_date                        text,
  ident                             text[],
  owner_ident                       text[],
  other_ident                       text[],
  sector_code                       text,
  legal_form_code                   text,
  status_code                       text,
  unit_size_code                    text,
  data_source_code                  text,
  primary_activity_category_code    text,
  secondary_activity_category_code  text,
  physical_address_part1            text,
  physical_address_part2            text,
  physical_address_part3            text,
  physical_postcode                 text,
  physical_postplace                text,
  physical_region_code              text,
  physical_country_iso_2            text,
  physical_latitude                 text,
  physical_longitude                text,
  physical_altitude                 text,
  postal_address_part1              text,
  postal_address_part2              text,
  postal_address_part3              text,
  postal_postcode                   text,
  postal_postplace                  text,
  postal_region_code                text,
  postal_country_iso_2              text,
  web_address                       text,
  email_address                     text,
  phone_number                      text,
  landline                          text,
  mobile_number                     text,
  fax_number                        text,
  stat                              text[],
  tag_path                          text,
  rel_type_code                     text,
  percentage                        text,
  edit_comment                      text,
  primary key (job_id, row_no)
-- Here and below: jobs look at the few columns that the planner asks about, when they have changed. The server would
-- look at all of them, again and again while a file comes in: one or two per cent of the work.
) with (autovacuum_analyze_threshold = 2000000000);
comment on table register.import_upload is
  'Rows of the file as text, in our columns. problem: what was wrong when the row was read, by input column (* for the '
  'row). ident, owner_ident, other_ident: identifiers of the unit, of its legal unit or influencing unit, of the '
  'influenced unit, in the order of the job''s ident_types; stat: in the order of its stat_definitions.';

create table register.import_link (
  job_id           integer not null,
  row_no           integer not null,
  batch_seq        integer not null,
  unit_id          integer,
  enterprise_id    integer,
  owner_id         integer,
  other_id         integer,
  founding_row_no  integer,
  is_new           boolean not null,
  is_primary       boolean,
  valid_from       date,
  valid_until      date,
  problem          jsonb,
  primary key (job_id, batch_seq, row_no)
) with (autovacuum_analyze_threshold = 2000000000);
comment on table register.import_link is
  'Which unit each row is about and which batch it is in. Rows that may touch the same unit are in one batch.';

create table register.import_data (
  job_id                           integer not null,
  batch_seq                        integer not null,
  row_no                           integer not null,
  unit_id                          integer,
  enterprise_id                    integer,
  owner_id                         integer,
  other_id                         integer,
  founding_row_no                  integer,
  is_new                           boolean not null,
  is_primary                       boolean,
  operation                        text collate "C" not null,
  valid_from                       date,
  valid_until                      date,
  name                             text,
  short_name                       text,
  birth_date                       date,
  death_date                       date,
  sector_id                        integer,
  legal_form_id                    integer,
  status_id                        integer,
  unit_size_id                     integer,
  data_source_id                   integer,
  primary_activity_category_id     integer,
  secondary_activity_category_id   integer,
  physical_address_part1           text,
  physical_address_part2           text,
  physical_address_part3           text,
  physical_postcode                text,
  physical_postplace               text,
  physical_region_id               integer,
  physical_country_id              integer,
  physical_latitude                numeric(9, 6),
  physical_longitude               numeric(9, 6),
  physical_altitude                numeric(6, 1),
  postal_address_part1             text,
  postal_address_part2             text,
  postal_address_part3             text,
  postal_postcode                  text,
  postal_postplace                 text,
  postal_region_id                 integer,
  postal_country_id                integer,
  web_address                      text,
  email_address                    text,
  phone_number                     text,
  landline                         text,
  mobile_number                    text,
  fax_number                       text,
  ident                            text[],
  stat_value                       jsonb,
  tag_id                           integer,
  rel_type_id                      integer,
  percentage                       numeric,
  edit_comment                     text,
  has_error                        boolean not null,
  errors                           jsonb,
  warnings                         jsonb,
  primary key (job_id, batch_seq, row_no),
  constraint import_data_operation_is_known check (operation in ('insert', 'replace', 'update', 'skip')),
  constraint import_data_error_skips        check (has_error = (operation = 'skip')),
  constraint import_data_error_is_told      check (has_error = (errors is not null))
) with (autovacuum_analyze_threshold = 2000000000);
comment on table register.import_data is
  'Rows as understood: codes as ids, dates and numbers as such. stat_value: by the id of the variable. errors and '
  'warnings: by the column of the file to fix. A row with errors is not imported.';
-- Reports of rows, in the order of the file.
create index import_data_errors on register.import_data (job_id, row_no) where has_error or warnings is not null;

create table register.import_batch (
  job_id               integer not null,
  batch_seq            integer not null,
  first_row_no         integer,
  last_row_no          integer,
  rows                 integer not null,
  analysed_at          timestamptz,
  processed_at         timestamptz,
  error_rows           integer not null default 0,
  warning_rows         integer not null default 0,
  left_legal_unit_ids  int4multirange not null default '{}',
  primary key (job_id, batch_seq)
);
comment on table register.import_batch is
  'Batches of a job. A row is analysed or processed when its batch is: rows have no state. '
  'left_legal_unit_ids: legal units whose primary establishment the batch has moved to another one.';
