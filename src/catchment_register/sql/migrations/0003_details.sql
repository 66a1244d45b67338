-- Why: details of units in addition to their slices. Locks: nothing, the tables are new. A detail belongs to a legal
-- unit or to an establishment and has no id: its owner and its kind identify it. Details with validity do not overlap,
-- and lie within the slices of their owner.

create table register.activity (
  legal_unit_id     integer,
  establishment_id  integer,
  type              text collate "C" not null,
  category_id       integer not null,
  valid_from        date not null,
  valid_until       date not null default 'infinity',
  data_source_id    integer,
  edit_at           timestamptz not null default clock_timestamp(),
  edit_by           text not null default session_user,
  edit_comment      text,
  constraint activity_has_one_owner  check ((legal_unit_id is null) <> (establishment_id is null)),
  constraint activity_valid          check (valid_from < valid_until),
  constraint activity_type_is_known  check (type in ('primary', 'secondary', 'ancilliary')),
  constraint activity_in_years_1_to_9999 check (
    valid_from between '0001-01-01' and '9999-12-30' and (valid_until <= '9999-12-30' or valid_until = 'infinity')
    and edit_at at time zone interval '0' between '0001-01-02' and '9999-12-31')
);
comment on table register.activity is 'What a unit does: one category of each type at a time.';
-- The key. Details of a unit: derivation, overlaps, periods the owner must cover.
create unique index activity_key
  on register.activity (legal_unit_id, establishment_id, type, valid_from) nulls not distinct;

create table register.location (
  legal_unit_id     integer,
  establishment_id  integer,
  type              text collate "C" not null,
  valid_from        date not null,
  valid_until       date not null default 'infinity',
  address_part1     text,
  address_part2     text,
  address_part3     text,
  postcode          text,
  postplace         text,
  region_id         integer,
  country_id        integer not null,
  latitude          numeric(9, 6),
  longitude         numeric(9, 6),
  altitude          numeric(6, 1),
  data_source_id    integer,
  edit_at           timestamptz not null default clock_timestamp(),
  edit_by           text not null default session_user,
  edit_comment      text,
  constraint location_has_one_owner         check ((legal_unit_id is null) <> (establishment_id is null)),
  constraint location_valid                 check (valid_from < valid_until),
  constraint location_type_is_known         check (type in ('physical', 'postal')),
  constraint location_coordinates_physical
    check (type = 'physical' or num_nonnulls(latitude, longitude, altitude) = 0),
  constraint location_latitude_range        check (latitude between -90 and 90),
  constraint location_longitude_range       check (longitude between -180 and 180),
  constraint location_in_years_1_to_9999 check (
    valid_from between '0001-01-01' and '9999-12-30' and (valid_until <= '9999-12-30' or valid_until = 'infinity')
    and edit_at at time zone interval '0' between '0001-01-02' and '9999-12-31')
);
comment on table register.location is 'Where a unit is and where it gets its mail: one of each type at a time.';
-- The key. Details of a unit: derivation, overlaps, periods the owner must cover.
create unique index location_key
  on register.location (legal_unit_id, establishment_id, type, valid_from) nulls not distinct;

create table register.contact (
  legal_unit_id     integer,
  establishment_id  integer,
  valid_from        date not null,
  valid_until       date not null default 'infinity',
  web_address       text,
  email_address     text,
  phone_number      text,
  landline          text,
  mobile_number     text,
  fax_number        text,
  data_source_id    integer,
  edit_at           timestamptz not null default clock_timestamp(),
  edit_by           text not null default session_user,
  edit_comment      text,
  constraint contact_has_one_owner  check ((legal_unit_id is null) <> (establishment_id is null)),
  constraint contact_valid          check (valid_from < valid_until),
  constraint contact_has_something
    check (num_nonnulls(web_address, email_address, phone_number, landline, mobile_number, fax_number) > 0),
  constraint contact_in_years_1_to_9999 check (
    valid_from between '0001-01-01' and '9999-12-30' and (valid_until <= '9999-12-30' or valid_until = 'infinity')
    and edit_at at time zone interval '0' between '0001-01-02' and '9999-12-31')
);
comment on table register.contact is 'How a unit is reached.';
-- The key. Details of a unit: derivation, overlaps, periods the owner must cover.
create unique index contact_key on register.contact (legal_unit_id, establishment_id, valid_from) nulls not distinct;

create table register.stat_for_unit (
  legal_unit_id       integer,
  establishment_id    integer,
  stat_definition_id  integer not null,
  valid_from          date not null,
  valid_until         date not null default 'infinity',
  value_int           bigint,
  value_float         double precision,
  value_string        text,
  value_bool          boolean,
  data_source_id      integer,
  edit_at             timestamptz not null default clock_timestamp(),
  edit_by             text not null default session_user,
  edit_comment        text,
  constraint stat_for_unit_has_one_owner  check ((legal_unit_id is null) <> (establishment_id is null)),
  constraint stat_for_unit_valid          check (valid_from < valid_until),
  constraint stat_has_one_value           check (num_nonnulls(value_int, value_float, value_string, value_bool) = 1),
  constraint stat_is_a_number             check (value_float not in ('NaN', 'Infinity', '-Infinity')),
  constraint stat_for_unit_in_years_1_to_9999 check (
    valid_from between '0001-01-01' and '9999-12-30' and (valid_until <= '9999-12-30' or valid_until = 'infinity')
    and edit_at at time zone interval '0' between '0001-01-02' and '9999-12-31')
);
comment on table register.stat_for_unit is
  'Values of statistical variables, each in the column of its variable''s type.';
-- The key. Details of a unit: derivation, overlaps, periods the owner must cover.
create unique index stat_for_unit_key
  on register.stat_for_unit (legal_unit_id, establishment_id, stat_definition_id, valid_from) nulls not distinct;

create table register.person (
  id            integer generated by default as identity primary key,
  given_name    text,
  family_name   text,
  birth_date    date,
  edit_at       timestamptz not null default clock_timestamp(),
  edit_by       text not null default session_user,
  edit_comment  text,
  constraint person_in_years_1_to_9999 check (
    birth_date between '0001-01-01' and '9999-12-31'
    and edit_at at time zone interval '0' between '0001-01-02' and '9999-12-31')
);
comment on table register.person is 'Persons with a part in units.';

create table register.person_for_unit (
  legal_unit_id     integer,
  establishment_id  integer,
  person_id         integer not null,
  person_role_id    integer,
  valid_from        date not null,
  valid_until       date not null default 'infinity',
  data_source_id    integer,
  edit_at           timestamptz not null default clock_timestamp(),
  edit_by           text not null default session_user,
  edit_comment      text,
  constraint person_for_unit_has_one_owner  check ((legal_unit_id is null) <> (establishment_id is null)),
  constraint person_for_unit_valid          check (valid_from < valid_until),
  constraint person_for_unit_in_years_1_to_9999 check (
    valid_from between '0001-01-01' and '9999-12-30' and (valid_until <= '9999-12-30' or valid_until = 'infinity')
    and edit_at at time zone interval '0' between '0001-01-02' and '9999-12-31')
);
comment on table register.person_for_unit is 'Who has which part in a unit. Only its dates matter to what is derived.';
-- The key. Details of a unit: derivation, overlaps, periods the owner must cover.
create unique index person_for_unit_key
  on register.person_for_unit (legal_unit_id, establishment_id, person_id, person_role_id,
                               valid_from) nulls not distinct;
-- A person that is deleted.
create index person_for_unit_person on register.person_for_unit (person_id);

create table register.external_ident (
  type_id           integer not null,
  ident             text collate "C" not null,
  legal_unit_id     integer,
  establishment_id  integer,
  enterprise_id     integer,
  power_group_id    integer,
  person_id         integer,
  edit_at           timestamptz not null default clock_timestamp(),
  edit_by           text not null default session_user,
  edit_comment      text,
  primary key (type_id, ident),
  constraint external_ident_has_a_length  check (length(ident) between 1 and 50),
  constraint external_ident_has_one_owner
    check (num_nonnulls(legal_unit_id, establishment_id, enterprise_id, power_group_id, person_id) = 1),
  constraint external_ident_in_years_1_to_9999
    check (edit_at at time zone interval '0' between '0001-01-02' and '9999-12-31')
);
comment on table register.external_ident is
  'Identifiers that others gave: unique within their type, and at most one of a type for a unit. A hierarchical one is '
  'its path.';
-- One of a type for a unit; identifiers of a unit.
create unique index external_ident_owner
  on register.external_ident (legal_unit_id, establishment_id, enterprise_id, power_group_id, person_id, type_id)
  nulls not distinct;

create table register.tag_for_unit (
  tag_id            integer not null,
  legal_unit_id     integer,
  establishment_id  integer,
  enterprise_id     integer,
  power_group_id    integer,
  edit_at           timestamptz not null default clock_timestamp(),
  edit_by           text not null default session_user,
  edit_comment      text,
  constraint tag_for_unit_has_one_owner
    check (num_nonnulls(legal_unit_id, establishment_id, enterprise_id, power_group_id) = 1),
  constraint tag_for_unit_in_years_1_to_9999
    check (edit_at at time zone interval '0' between '0001-01-02' and '9999-12-31')
);
comment on table register.tag_for_unit is 'Tags of units.';
-- The key; tags of a unit.
create unique index tag_for_unit_key
  on register.tag_for_unit (legal_unit_id, establishment_id, enterprise_id, power_group_id, tag_id) nulls not distinct;

create table register.unit_notes (
  notes             text not null,
  legal_unit_id     integer,
  establishment_id  integer,
  enterprise_id     integer,
  power_group_id    integer,
  edit_at           timestamptz not null default clock_timestamp(),
  edit_by           text not null default session_user,
  edit_comment      text,
  constraint unit_notes_has_one_owner
    check (num_nonnulls(legal_unit_id, establishment_id, enterprise_id, power_group_id) = 1),
  constraint unit_notes_in_years_1_to_9999
    check (edit_at at time zone interval '0' between '0001-01-02' and '9999-12-31')
);
comment on table register.unit_notes is 'What people wrote about a unit. Not derived from.';
-- One note for a unit.
create unique index unit_notes_key
  on register.unit_notes (legal_unit_id, establishment_id, enterprise_id, power_group_id) nulls not distinct;
