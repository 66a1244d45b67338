CREATE SCHEMA register;
ALTER SCHEMA register OWNER TO register_owner;
CREATE TYPE register.measures AS (
	exists_count integer,
	exists_change integer,
	exists_added_count integer,
	exists_removed_count integer,
	countable_count integer,
	countable_change integer,
	countable_added_count integer,
	countable_removed_count integer,
	births integer,
	deaths integer,
	name_change_count integer,
	primary_activity_category_change_count integer,
	secondary_activity_category_change_count integer,
	sector_change_count integer,
	legal_form_change_count integer,
	physical_region_change_count integer,
	physical_country_change_count integer,
	physical_address_change_count integer,
	unit_size_change_count integer,
	status_change_count integer
);
ALTER TYPE register.measures OWNER TO register_owner;
CREATE TYPE register.moment AS (
	stat_definition_id integer,
	n bigint,
	total numeric,
	squares numeric,
	min numeric,
	min_count bigint,
	max numeric,
	max_count bigint
);
ALTER TYPE register.moment OWNER TO register_owner;
CREATE TYPE register.period AS (
	resolution text,
	year smallint,
	month smallint,
	first_day date,
	last_day date,
	prev_first date,
	prev_last date
);
ALTER TYPE register.period OWNER TO register_owner;
CREATE TYPE register.subject AS (
	kind text,
	name text,
	establishment_ids int4multirange,
	legal_unit_ids int4multirange,
	enterprise_ids int4multirange,
	power_group_ids int4multirange
);
ALTER TYPE register.subject OWNER TO register_owner;
CREATE TABLE register.statistical_unit_row (
    hash_slot smallint NOT NULL,
    is_only boolean NOT NULL,
    used_for_counting boolean NOT NULL,
    unit_id integer NOT NULL,
    valid_from date NOT NULL,
    valid_until date NOT NULL,
    next_from date NOT NULL,
    unit_type text NOT NULL COLLATE pg_catalog."C",
    birth_date date,
    death_date date,
    primary_activity_category_id integer,
    secondary_activity_category_id integer,
    sector_id integer,
    legal_form_id integer,
    physical_region_id integer,
    physical_country_id integer,
    unit_size_id integer,
    status_id integer,
    moments register.moment[],
    value_counts jsonb,
    name text,
    physical_address_part1 text,
    physical_address_part2 text,
    physical_address_part3 text,
    physical_postcode text,
    physical_postplace text,
    postal_region_id integer,
    postal_country_id integer,
    data_source_ids integer[],
    has_legal_unit boolean NOT NULL,
    primary_legal_unit_id integer,
    primary_establishment_id integer,
    last_edit_at timestamp with time zone,
    physical_latitude numeric(9,6),
    physical_longitude numeric(9,6),
    physical_altitude numeric(6,1),
    related_establishment_ids integer[],
    excluded_establishment_ids integer[],
    included_establishment_ids integer[],
    related_legal_unit_ids integer[],
    excluded_legal_unit_ids integer[],
    included_legal_unit_ids integer[],
    related_enterprise_ids integer[],
    excluded_enterprise_ids integer[],
    included_enterprise_ids integer[],
    stat_values jsonb,
    postal_address_part1 text,
    postal_address_part2 text,
    postal_address_part3 text,
    postal_postcode text,
    postal_postplace text,
    web_address text,
    email_address text,
    phone_number text,
    landline text,
    mobile_number text,
    fax_number text,
    last_edit_by text,
    last_edit_comment text,
    CONSTRAINT statistical_unit_row_has_a_slot CHECK (((hash_slot >= 0) AND (hash_slot <= 16383))),
    CONSTRAINT statistical_unit_row_type_is_known CHECK ((unit_type = ANY (ARRAY['establishment'::text, 'legal_unit'::text, 'enterprise'::text, 'power_group'::text]))),
    CONSTRAINT statistical_unit_row_valid CHECK (((valid_from < valid_until) AND (valid_until <= next_from)))
);
ALTER TABLE register.statistical_unit_row OWNER TO register_owner;
CREATE TABLE register.round (
    id bigint NOT NULL,
    kind text NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    today date NOT NULL,
    establishment_ids int4multirange DEFAULT '{}'::int4multirange NOT NULL,
    legal_unit_ids int4multirange DEFAULT '{}'::int4multirange NOT NULL,
    enterprise_ids int4multirange DEFAULT '{}'::int4multirange NOT NULL,
    power_group_ids int4multirange DEFAULT '{}'::int4multirange NOT NULL,
    effective_establishment_ids int4multirange,
    effective_legal_unit_ids int4multirange,
    effective_enterprise_ids int4multirange,
    effective_power_group_ids int4multirange,
    effective_establishment_count integer,
    effective_legal_unit_count integer,
    effective_enterprise_count integer,
    effective_power_group_count integer,
    batch_count integer,
    rebuild boolean DEFAULT false NOT NULL,
    flush_id bigint,
    flushed_at timestamp with time zone,
    facets_reduced_at timestamp with time zone,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ended_at timestamp with time zone,
    failures integer DEFAULT 0 NOT NULL,
    CONSTRAINT round_kind_is_known CHECK ((kind = ANY (ARRAY['changes'::text, 'all'::text, 'direct'::text, 'reports'::text, 'roll'::text]))),
    CONSTRAINT round_open_has_no_end CHECK (((state = 'open'::text) = (ended_at IS NULL))),
    CONSTRAINT round_state_is_known CHECK ((state = ANY (ARRAY['open'::text, 'done'::text, 'broken'::text]))),
    CONSTRAINT round_today_is_a_day CHECK (((today >= '1000-01-01'::date) AND (today <= '9998-12-31'::date)))
);
ALTER TABLE register.round OWNER TO register_owner;
CREATE UNLOGGED TABLE register.statistical_unit_staging (
    round_id bigint NOT NULL,
    batch_seq integer NOT NULL,
    hash_slot smallint CONSTRAINT statistical_unit_row_hash_slot_not_null NOT NULL,
    is_only boolean CONSTRAINT statistical_unit_row_is_only_not_null NOT NULL,
    used_for_counting boolean CONSTRAINT statistical_unit_row_used_for_counting_not_null NOT NULL,
    unit_id integer CONSTRAINT statistical_unit_row_unit_id_not_null NOT NULL,
    valid_from date CONSTRAINT statistical_unit_row_valid_from_not_null NOT NULL,
    valid_until date CONSTRAINT statistical_unit_row_valid_until_not_null NOT NULL,
    next_from date CONSTRAINT statistical_unit_row_next_from_not_null NOT NULL,
    unit_type text CONSTRAINT statistical_unit_row_unit_type_not_null NOT NULL COLLATE pg_catalog."C",
    birth_date date,
    death_date date,
    primary_activity_category_id integer,
    secondary_activity_category_id integer,
    sector_id integer,
    legal_form_id integer,
    physical_region_id integer,
    physical_country_id integer,
    unit_size_id integer,
    status_id integer,
    moments register.moment[],
    value_counts jsonb,
    name text,
    physical_address_part1 text,
    physical_address_part2 text,
    physical_address_part3 text,
    physical_postcode text,
    physical_postplace text,
    postal_region_id integer,
    postal_country_id integer,
    data_source_ids integer[],
    has_legal_unit boolean CONSTRAINT statistical_unit_row_has_legal_unit_not_null NOT NULL,
    primary_legal_unit_id integer,
    primary_establishment_id integer,
    last_edit_at timestamp with time zone,
    physical_latitude numeric(9,6),
    physical_longitude numeric(9,6),
    physical_altitude numeric(6,1),
    related_establishment_ids integer[],
    excluded_establishment_ids integer[],
    included_establishment_ids integer[],
    related_legal_unit_ids integer[],
    excluded_legal_unit_ids integer[],
    included_legal_unit_ids integer[],
    related_enterprise_ids integer[],
    excluded_enterprise_ids integer[],
    included_enterprise_ids integer[],
    stat_values jsonb,
    postal_address_part1 text,
    postal_address_part2 text,
    postal_address_part3 text,
    postal_postcode text,
    postal_postplace text,
    web_address text,
    email_address text,
    phone_number text,
    landline text,
    mobile_number text,
    fax_number text,
    last_edit_by text,
    last_edit_comment text
);
ALTER TABLE register.statistical_unit_staging OWNER TO register_owner;
CREATE AGGREGATE register.total_counts(jsonb) (
    SFUNC = register.add_counts,
    STYPE = jsonb,
    PARALLEL = safe
);
ALTER AGGREGATE register.total_counts(jsonb) OWNER TO register_owner;
CREATE AGGREGATE register.total_moments(register.moment[]) (
    SFUNC = register.add_moments,
    STYPE = register.moment[],
    PARALLEL = safe
);
ALTER AGGREGATE register.total_moments(register.moment[]) OWNER TO register_owner;
CREATE TABLE register.activity (
    legal_unit_id integer,
    establishment_id integer,
    type text NOT NULL COLLATE pg_catalog."C",
    category_id integer CONSTRAINT activity_category_id_not_null1 NOT NULL,
    valid_from date NOT NULL,
    valid_until date DEFAULT 'infinity'::date NOT NULL,
    data_source_id integer,
    edit_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    edit_by text DEFAULT SESSION_USER NOT NULL,
    edit_comment text,
    CONSTRAINT activity_has_one_owner CHECK (((legal_unit_id IS NULL) <> (establishment_id IS NULL))),
    CONSTRAINT activity_in_years_1_to_9999 CHECK ((((valid_from >= '0001-01-01'::date) AND (valid_from <= '9999-12-30'::date)) AND ((valid_until <= '9999-12-30'::date) OR (valid_until = 'infinity'::date)) AND (((edit_at AT TIME ZONE '00:00:00'::interval) >= '0001-01-02 00:00:00'::timestamp without time zone) AND ((edit_at AT TIME ZONE '00:00:00'::interval) <= '9999-12-31 00:00:00'::timestamp without time zone)))),
    CONSTRAINT activity_type_is_known CHECK ((type = ANY (ARRAY['primary'::text, 'secondary'::text, 'ancilliary'::text]))),
    CONSTRAINT activity_valid CHECK ((valid_from < valid_until))
);
ALTER TABLE register.activity OWNER TO register_owner;
CREATE TABLE register.activity_category (
    id integer NOT NULL,
    standard_id integer CONSTRAINT activity_category_standard_id_not_null1 NOT NULL,
    path text NOT NULL COLLATE pg_catalog."C",
    code_key text GENERATED ALWAYS AS (regexp_replace(path, '[^0-9]'::text, ''::text, 'g'::text)) STORED COLLATE pg_catalog."C",
    code text NOT NULL,
    name text NOT NULL,
    description text,
    enabled boolean DEFAULT true NOT NULL,
    CONSTRAINT activity_category_path_is_labels CHECK ((path ~ '^[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*$'::text))
);
ALTER TABLE register.activity_category OWNER TO register_owner;
ALTER TABLE register.activity_category ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.activity_category_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE register.activity_category_standard (
    id integer NOT NULL,
    code text NOT NULL,
    name text NOT NULL,
    code_pattern text DEFAULT 'digits'::text NOT NULL,
    derives_path boolean DEFAULT true NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    CONSTRAINT standard_pattern_is_known CHECK ((code_pattern = ANY (ARRAY['digits'::text, 'dot_after_two_digits'::text])))
);
ALTER TABLE register.activity_category_standard OWNER TO register_owner;
ALTER TABLE register.activity_category_standard ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.activity_category_standard_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE register.settings (
    is_one boolean DEFAULT true NOT NULL,
    activity_category_standard_id integer,
    country_id integer,
    region_version_id integer,
    today date,
    batch_enterprises integer DEFAULT 1000 NOT NULL,
    import_batch_rows integer DEFAULT 8192 NOT NULL,
    partition_count_target integer DEFAULT 6 NOT NULL,
    rebuild_share numeric DEFAULT 0.2 NOT NULL,
    truncates_text boolean DEFAULT true NOT NULL,
    CONSTRAINT settings_batch_enterprises_positive CHECK ((batch_enterprises > 0)),
    CONSTRAINT settings_import_batch_rows_positive CHECK ((import_batch_rows > 0)),
    CONSTRAINT settings_is_one_row CHECK (is_one),
    CONSTRAINT settings_partition_count_in_range CHECK (((partition_count_target >= 1) AND (partition_count_target <= 512))),
    CONSTRAINT settings_rebuild_share_is_a_share CHECK (((rebuild_share >= (0)::numeric) AND (rebuild_share <= (1)::numeric))),
    CONSTRAINT settings_today_is_a_day CHECK (((today >= '1000-01-01'::date) AND (today <= '9998-12-31'::date)))
);
ALTER TABLE register.settings OWNER TO register_owner;
CREATE TABLE register.used_code (
    kind text NOT NULL COLLATE pg_catalog."C",
    code_id integer NOT NULL,
    row_count bigint NOT NULL,
    CONSTRAINT used_code_is_used CHECK ((row_count > 0)),
    CONSTRAINT used_code_kind_is_known CHECK ((kind = ANY (ARRAY['activity'::text, 'region'::text, 'sector'::text, 'legal_form'::text, 'country'::text, 'data_source'::text])))
);
ALTER TABLE register.used_code OWNER TO register_owner;
CREATE VIEW register.activity_category_used AS
 SELECT id,
    standard_id,
    path,
    code_key,
    code,
    name,
    description,
    enabled
   FROM register.activity_category c
  WHERE ((EXISTS ( SELECT
           FROM (register.used_code u
             JOIN register.activity_category n ON ((n.id = u.code_id)))
          WHERE ((u.kind = 'activity'::text) AND ((n.path = c.path) OR starts_with(n.path, (c.path || '.'::text))) AND (n.standard_id = c.standard_id)))) AND enabled AND (standard_id = ( SELECT s.activity_category_standard_id
           FROM register.settings s)));
ALTER VIEW register.activity_category_used OWNER TO register_owner;
CREATE TABLE register.base_change_log (
    id bigint NOT NULL,
    establishment_ids int4multirange,
    legal_unit_ids int4multirange,
    enterprise_ids int4multirange,
    power_group_ids int4multirange,
    relationship_legal_unit_ids int4multirange,
    valid_ranges datemultirange,
    rebuilds_reports boolean DEFAULT false NOT NULL,
    round_id bigint,
    logged_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE register.base_change_log OWNER TO register_owner;
ALTER TABLE register.base_change_log ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME register.base_change_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE UNLOGGED TABLE register.capture_pause (
    xact xid8 DEFAULT pg_current_xact_id() NOT NULL
);
ALTER TABLE register.capture_pause OWNER TO register_owner;
CREATE TABLE register.country (
    id integer NOT NULL,
    iso_2 text NOT NULL,
    iso_3 text,
    name text NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    CONSTRAINT country_iso_2_is_two_letters CHECK ((iso_2 ~ '^[A-Z]{2}$'::text))
);
ALTER TABLE register.country OWNER TO register_owner;
CREATE TABLE register.data_source (
    id integer NOT NULL,
    code text NOT NULL,
    name text NOT NULL,
    enabled boolean DEFAULT true NOT NULL
);
ALTER TABLE register.data_source OWNER TO register_owner;
CREATE TABLE register.external_ident_type (
    id integer NOT NULL,
    code text NOT NULL,
    name text NOT NULL,
    shape text DEFAULT 'regular'::text NOT NULL,
    priority integer NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    CONSTRAINT external_ident_type_shape_is_known CHECK ((shape = ANY (ARRAY['regular'::text, 'hierarchical'::text])))
);
ALTER TABLE register.external_ident_type OWNER TO register_owner;
CREATE TABLE register.legal_form (
    id integer NOT NULL,
    code text NOT NULL,
    name text NOT NULL,
    enabled boolean DEFAULT true NOT NULL
);
ALTER TABLE register.legal_form OWNER TO register_owner;
CREATE TABLE register.legal_rel_type (
    id integer NOT NULL,
    code text NOT NULL,
    name text NOT NULL,
    primary_influencer_only boolean DEFAULT false NOT NULL,
    enabled boolean DEFAULT true NOT NULL
);
ALTER TABLE register.legal_rel_type OWNER TO register_owner;
CREATE TABLE register.region (
    id integer NOT NULL,
    version_id integer CONSTRAINT region_version_id_not_null1 NOT NULL,
    path text NOT NULL COLLATE pg_catalog."C",
    code text GENERATED ALWAYS AS (NULLIF(regexp_replace(path, '[^0-9]'::text, ''::text, 'g'::text), ''::text)) STORED COLLATE pg_catalog."C",
    name text NOT NULL,
    description text,
    enabled boolean DEFAULT true NOT NULL,
    CONSTRAINT region_path_is_labels CHECK ((path ~ '^[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*$'::text))
);
ALTER TABLE register.region OWNER TO register_owner;
CREATE TABLE register.sector (
    id integer NOT NULL,
    path text NOT NULL COLLATE pg_catalog."C",
    code text GENERATED ALWAYS AS (NULLIF(regexp_replace(path, '[^0-9]'::text, ''::text, 'g'::text), ''::text)) STORED COLLATE pg_catalog."C",
    name text NOT NULL,
    description text,
    enabled boolean DEFAULT true NOT NULL,
    CONSTRAINT sector_path_is_labels CHECK ((path ~ '^[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*$'::text))
);
ALTER TABLE register.sector OWNER TO register_owner;
CREATE TABLE register.stat_definition (
    id integer NOT NULL,
    code text NOT NULL,
    type text NOT NULL,
    frequency text DEFAULT 'yearly'::text NOT NULL,
    name text NOT NULL,
    priority integer NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    CONSTRAINT stat_definition_type_is_known CHECK ((type = ANY (ARRAY['int'::text, 'float'::text, 'string'::text, 'bool'::text])))
);
ALTER TABLE register.stat_definition OWNER TO register_owner;
CREATE TABLE register.status (
    id integer NOT NULL,
    code text NOT NULL,
    name text NOT NULL,
    used_for_counting boolean NOT NULL,
    assigned_by_default boolean DEFAULT false NOT NULL,
    enabled boolean DEFAULT true NOT NULL
);
ALTER TABLE register.status OWNER TO register_owner;
CREATE TABLE register.tag (
    id integer NOT NULL,
    path text NOT NULL COLLATE pg_catalog."C",
    code text GENERATED ALWAYS AS (NULLIF(regexp_replace(path, '[^0-9]'::text, ''::text, 'g'::text), ''::text)) STORED COLLATE pg_catalog."C",
    name text NOT NULL,
    description text,
    enabled boolean DEFAULT true NOT NULL,
    CONSTRAINT tag_path_is_labels CHECK ((path ~ '^[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*$'::text))
);
ALTER TABLE register.tag OWNER TO register_owner;
CREATE TABLE register.unit_size (
    id integer NOT NULL,
    code text NOT NULL,
    name text NOT NULL,
    enabled boolean DEFAULT true NOT NULL
);
ALTER TABLE register.unit_size OWNER TO register_owner;
CREATE VIEW register.code_key AS
 SELECT 'sector'::text AS kind,
    s.key,
    s.id
   FROM ( SELECT DISTINCT ON (k.key) k.key,
            s_1.id
           FROM (register.sector s_1
             CROSS JOIN LATERAL ( VALUES (s_1.code,2), (s_1.path,1)) k(key, rank))
          WHERE (s_1.enabled AND (k.key IS NOT NULL))
          ORDER BY k.key, k.rank, s_1.path) s
UNION ALL
 SELECT 'region'::text AS kind,
    r.key,
    r.id
   FROM ( SELECT DISTINCT ON (k.key) k.key,
            r_1.id
           FROM (register.region r_1
             CROSS JOIN LATERAL ( VALUES (r_1.code,2), (r_1.path,1)) k(key, rank))
          WHERE (r_1.enabled AND (k.key IS NOT NULL) AND (r_1.version_id = COALESCE(( SELECT s.region_version_id
                   FROM register.settings s), r_1.version_id)))
          ORDER BY k.key, k.rank, r_1.path) r
UNION ALL
 SELECT 'activity'::text AS kind,
    a.key,
    a.id
   FROM ( SELECT DISTINCT ON (k.key) k.key,
            a_1.id
           FROM (register.activity_category a_1
             CROSS JOIN LATERAL ( VALUES (NULLIF(a_1.code_key, ''::text),2), (a_1.path,1)) k(key, rank))
          WHERE (a_1.enabled AND (k.key IS NOT NULL) AND (a_1.standard_id = ( SELECT s.activity_category_standard_id
                   FROM register.settings s)))
          ORDER BY k.key, k.rank, a_1.path) a
UNION ALL
 SELECT 'legal_form'::text AS kind,
    l.code AS key,
    l.id
   FROM register.legal_form l
  WHERE l.enabled
UNION ALL
 SELECT 'status'::text AS kind,
    s.code AS key,
    s.id
   FROM register.status s
  WHERE s.enabled
UNION ALL
 SELECT 'unit_size'::text AS kind,
    s.code AS key,
    s.id
   FROM register.unit_size s
  WHERE s.enabled
UNION ALL
 SELECT 'data_source'::text AS kind,
    d.code AS key,
    d.id
   FROM register.data_source d
  WHERE d.enabled
UNION ALL
 SELECT 'country'::text AS kind,
    c.iso_2 AS key,
    c.id
   FROM register.country c
  WHERE c.enabled
UNION ALL
 SELECT 'rel_type'::text AS kind,
    t.code AS key,
    t.id
   FROM register.legal_rel_type t
  WHERE t.enabled
UNION ALL
 SELECT 'tag'::text AS kind,
    t.path AS key,
    t.id
   FROM register.tag t
  WHERE t.enabled
UNION ALL
 SELECT 'stat'::text AS kind,
    d.code AS key,
    d.id
   FROM register.stat_definition d
  WHERE d.enabled
UNION ALL
 SELECT 'ident_type'::text AS kind,
    t.code AS key,
    t.id
   FROM register.external_ident_type t
  WHERE t.enabled;
ALTER VIEW register.code_key OWNER TO register_owner;
CREATE UNLOGGED TABLE register.collect_request (
    xact xid8 DEFAULT pg_current_xact_id() NOT NULL
);
ALTER TABLE register.collect_request OWNER TO register_owner;
CREATE TABLE register.contact (
    legal_unit_id integer,
    establishment_id integer,
    valid_from date NOT NULL,
    valid_until date DEFAULT 'infinity'::date NOT NULL,
    web_address text,
    email_address text,
    phone_number text,
    landline text,
    mobile_number text,
    fax_number text,
    data_source_id integer,
    edit_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    edit_by text DEFAULT SESSION_USER NOT NULL,
    edit_comment text,
    CONSTRAINT contact_has_one_owner CHECK (((legal_unit_id IS NULL) <> (establishment_id IS NULL))),
    CONSTRAINT contact_has_something CHECK ((num_nonnulls(web_address, email_address, phone_number, landline, mobile_number, fax_number) > 0)),
    CONSTRAINT contact_in_years_1_to_9999 CHECK ((((valid_from >= '0001-01-01'::date) AND (valid_from <= '9999-12-30'::date)) AND ((valid_until <= '9999-12-30'::date) OR (valid_until = 'infinity'::date)) AND (((edit_at AT TIME ZONE '00:00:00'::interval) >= '0001-01-02 00:00:00'::timestamp without time zone) AND ((edit_at AT TIME ZONE '00:00:00'::interval) <= '9999-12-31 00:00:00'::timestamp without time zone)))),
    CONSTRAINT contact_valid CHECK ((valid_from < valid_until))
);
ALTER TABLE register.contact OWNER TO register_owner;
ALTER TABLE register.country ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.country_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW register.country_used AS
 SELECT id,
    iso_2,
    iso_3,
    name,
    enabled
   FROM register.country c
  WHERE (EXISTS ( SELECT
           FROM register.used_code u
          WHERE ((u.kind = 'country'::text) AND (u.code_id = c.id))));
ALTER VIEW register.country_used OWNER TO register_owner;
ALTER TABLE register.data_source ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.data_source_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW register.data_source_used AS
 SELECT id,
    code,
    name,
    enabled
   FROM register.data_source c
  WHERE (EXISTS ( SELECT
           FROM register.used_code u
          WHERE ((u.kind = 'data_source'::text) AND (u.code_id = c.id))));
ALTER VIEW register.data_source_used OWNER TO register_owner;
CREATE TABLE register.enterprise (
    id integer NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    short_name text,
    edit_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    edit_by text DEFAULT SESSION_USER NOT NULL,
    edit_comment text,
    CONSTRAINT enterprise_in_years_1_to_9999 CHECK ((((edit_at AT TIME ZONE '00:00:00'::interval) >= '0001-01-02 00:00:00'::timestamp without time zone) AND ((edit_at AT TIME ZONE '00:00:00'::interval) <= '9999-12-31 00:00:00'::timestamp without time zone))),
    CONSTRAINT enterprise_short_name_is_short CHECK ((length(short_name) <= 16))
);
ALTER TABLE register.enterprise OWNER TO register_owner;
ALTER TABLE register.enterprise ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.enterprise_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE register.establishment (
    id integer NOT NULL,
    valid_from date NOT NULL,
    valid_until date DEFAULT 'infinity'::date NOT NULL,
    name text NOT NULL,
    short_name text,
    birth_date date,
    death_date date,
    sector_id integer,
    status_id integer NOT NULL,
    unit_size_id integer,
    data_source_id integer,
    foreign_participation_id integer,
    image_id integer,
    legal_unit_id integer,
    enterprise_id integer,
    primary_for_legal_unit boolean,
    primary_for_enterprise boolean,
    edit_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    edit_by text DEFAULT SESSION_USER NOT NULL,
    edit_comment text,
    CONSTRAINT establishment_dies_after_birth CHECK ((death_date >= birth_date)),
    CONSTRAINT establishment_has_one_owner CHECK (((legal_unit_id IS NULL) <> (enterprise_id IS NULL))),
    CONSTRAINT establishment_in_years_1_to_9999 CHECK ((((valid_from >= '0001-01-01'::date) AND (valid_from <= '9999-12-30'::date)) AND ((valid_until <= '9999-12-30'::date) OR (valid_until = 'infinity'::date)) AND ((birth_date >= '0001-01-01'::date) AND (birth_date <= '9999-12-31'::date)) AND ((death_date >= '0001-01-01'::date) AND (death_date <= '9999-12-31'::date)) AND (((edit_at AT TIME ZONE '00:00:00'::interval) >= '0001-01-02 00:00:00'::timestamp without time zone) AND ((edit_at AT TIME ZONE '00:00:00'::interval) <= '9999-12-31 00:00:00'::timestamp without time zone)))),
    CONSTRAINT establishment_name_has_a_length CHECK (((length(name) >= 1) AND (length(name) <= 256))),
    CONSTRAINT establishment_primary_for_enterprise CHECK (((primary_for_enterprise IS NOT NULL) = (enterprise_id IS NOT NULL))),
    CONSTRAINT establishment_primary_for_legal_unit CHECK (((primary_for_legal_unit IS NOT NULL) = (legal_unit_id IS NOT NULL))),
    CONSTRAINT establishment_sector_informal CHECK (((sector_id IS NULL) OR (enterprise_id IS NOT NULL))),
    CONSTRAINT establishment_short_name_is_short CHECK ((length(short_name) <= 16)),
    CONSTRAINT establishment_valid CHECK ((valid_from < valid_until))
);
ALTER TABLE register.establishment OWNER TO register_owner;
CREATE SEQUENCE register.establishment_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE register.establishment_id_seq OWNER TO register_owner;
ALTER SEQUENCE register.establishment_id_seq OWNED BY register.establishment.id;
CREATE TABLE register.external_ident (
    type_id integer CONSTRAINT external_ident_type_id_not_null1 NOT NULL,
    ident text NOT NULL COLLATE pg_catalog."C",
    legal_unit_id integer,
    establishment_id integer,
    enterprise_id integer,
    power_group_id integer,
    person_id integer,
    edit_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    edit_by text DEFAULT SESSION_USER NOT NULL,
    edit_comment text,
    CONSTRAINT external_ident_has_a_length CHECK (((length(ident) >= 1) AND (length(ident) <= 50))),
    CONSTRAINT external_ident_has_one_owner CHECK ((num_nonnulls(legal_unit_id, establishment_id, enterprise_id, power_group_id, person_id) = 1)),
    CONSTRAINT external_ident_in_years_1_to_9999 CHECK ((((edit_at AT TIME ZONE '00:00:00'::interval) >= '0001-01-02 00:00:00'::timestamp without time zone) AND ((edit_at AT TIME ZONE '00:00:00'::interval) <= '9999-12-31 00:00:00'::timestamp without time zone)))
);
ALTER TABLE register.external_ident OWNER TO register_owner;
ALTER TABLE register.external_ident_type ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.external_ident_type_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE register.first_fill (
    report text NOT NULL COLLATE pg_catalog."C",
    round_id bigint NOT NULL,
    CONSTRAINT first_fill_report_is_known CHECK ((report = ANY (ARRAY['statistical_unit'::text, 'statistical_history_facet'::text])))
);
ALTER TABLE register.first_fill OWNER TO register_owner;
CREATE SEQUENCE register.flush_id
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE register.flush_id OWNER TO register_owner;
CREATE TABLE register.foreign_participation (
    id integer NOT NULL,
    code text NOT NULL,
    name text NOT NULL,
    enabled boolean DEFAULT true NOT NULL
);
ALTER TABLE register.foreign_participation OWNER TO register_owner;
ALTER TABLE register.foreign_participation ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.foreign_participation_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE register.image (
    id integer NOT NULL,
    type text NOT NULL,
    data bytea NOT NULL
);
ALTER TABLE register.image OWNER TO register_owner;
ALTER TABLE register.image ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.image_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE register.import_batch (
    job_id integer NOT NULL,
    batch_seq integer NOT NULL,
    first_row_no integer,
    last_row_no integer,
    rows integer NOT NULL,
    analysed_at timestamp with time zone,
    processed_at timestamp with time zone,
    error_rows integer DEFAULT 0 NOT NULL,
    warning_rows integer DEFAULT 0 NOT NULL,
    left_legal_unit_ids int4multirange DEFAULT '{}'::int4multirange NOT NULL
);
ALTER TABLE register.import_batch OWNER TO register_owner;
CREATE TABLE register.import_data (
    job_id integer NOT NULL,
    batch_seq integer NOT NULL,
    row_no integer NOT NULL,
    unit_id integer,
    enterprise_id integer,
    owner_id integer,
    other_id integer,
    founding_row_no integer,
    is_new boolean NOT NULL,
    is_primary boolean,
    operation text NOT NULL COLLATE pg_catalog."C",
    valid_from date,
    valid_until date,
    name text,
    short_name text,
    birth_date date,
    death_date date,
    sector_id integer,
    legal_form_id integer,
    status_id integer,
    unit_size_id integer,
    data_source_id integer,
    primary_activity_category_id integer,
    secondary_activity_category_id integer,
    physical_address_part1 text,
    physical_address_part2 text,
    physical_address_part3 text,
    physical_postcode text,
    physical_postplace text,
    physical_region_id integer,
    physical_country_id integer,
    physical_latitude numeric(9,6),
    physical_longitude numeric(9,6),
    physical_altitude numeric(6,1),
    postal_address_part1 text,
    postal_address_part2 text,
    postal_address_part3 text,
    postal_postcode text,
    postal_postplace text,
    postal_region_id integer,
    postal_country_id integer,
    web_address text,
    email_address text,
    phone_number text,
    landline text,
    mobile_number text,
    fax_number text,
    ident text[],
    stat_value jsonb,
    tag_id integer,
    rel_type_id integer,
    percentage numeric,
    edit_comment text,
    has_error boolean NOT NULL,
    errors jsonb,
    warnings jsonb,
    CONSTRAINT import_data_error_is_told CHECK ((has_error = (errors IS NOT NULL))),
    CONSTRAINT import_data_error_skips CHECK ((has_error = (operation = 'skip'::text))),
    CONSTRAINT import_data_operation_is_known CHECK ((operation = ANY (ARRAY['insert'::text, 'replace'::text, 'update'::text, 'skip'::text])))
)
WITH (autovacuum_analyze_threshold='2000000000');
ALTER TABLE register.import_data OWNER TO register_owner;
CREATE TABLE register.import_definition (
    id integer NOT NULL,
    slug text NOT NULL,
    name text NOT NULL,
    mode text NOT NULL,
    strategy text NOT NULL,
    valid_time_from text NOT NULL,
    unique_units boolean NOT NULL,
    retention interval DEFAULT '1 year 6 mons'::interval NOT NULL,
    is_valid boolean DEFAULT true NOT NULL,
    custom boolean DEFAULT false NOT NULL,
    CONSTRAINT import_definition_dates_are_known CHECK ((valid_time_from = ANY (ARRAY['job_provided'::text, 'source_columns'::text]))),
    CONSTRAINT import_definition_mode_is_known CHECK ((mode = ANY (ARRAY['legal_unit'::text, 'establishment_formal'::text, 'establishment_informal'::text, 'generic_unit'::text, 'legal_relationship'::text]))),
    CONSTRAINT import_definition_retention_is_a_time CHECK (((retention >= '00:00:00'::interval) AND (retention <= '1000 years'::interval))),
    CONSTRAINT import_definition_strategy_is_known CHECK ((strategy = ANY (ARRAY['insert_or_replace'::text, 'insert_or_update'::text, 'insert_only'::text, 'update_only'::text, 'replace_only'::text])))
);
ALTER TABLE register.import_definition OWNER TO register_owner;
ALTER TABLE register.import_definition ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.import_definition_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE register.import_job (
    id integer NOT NULL,
    slug text NOT NULL,
    definition_id integer,
    snapshot jsonb NOT NULL,
    state text DEFAULT 'waiting_for_upload'::text NOT NULL,
    valid_from date,
    valid_until date,
    review boolean,
    data_source_id integer,
    note text,
    current_step text,
    total_rows integer,
    total_batches integer,
    error_count integer,
    warning_count integer,
    imported_rows integer DEFAULT 0 NOT NULL,
    analysed_rows integer DEFAULT 0 NOT NULL,
    error text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    created_by text DEFAULT SESSION_USER NOT NULL,
    uploaded_at timestamp with time zone,
    analysis_start_at timestamp with time zone,
    analysis_stop_at timestamp with time zone,
    reviewed_at timestamp with time zone,
    reviewed_by text,
    processing_start_at timestamp with time zone,
    processing_stop_at timestamp with time zone,
    finished_at timestamp with time zone,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT import_job_failure_has_error CHECK (((state = 'failed'::text) = (error IS NOT NULL))),
    CONSTRAINT import_job_state_is_known CHECK ((state = ANY (ARRAY['waiting_for_upload'::text, 'upload_completed'::text, 'preparing_data'::text, 'analysing_data'::text, 'waiting_for_review'::text, 'approved'::text, 'rejected'::text, 'processing_data'::text, 'finished'::text, 'failed'::text]))),
    CONSTRAINT import_job_valid CHECK ((valid_from < valid_until))
);
ALTER TABLE register.import_job OWNER TO register_owner;
ALTER TABLE register.import_job ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.import_job_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW register.import_job_progress AS
 SELECT j.id,
    j.slug,
    (j.snapshot ->> 'definition'::text) AS definition,
    (j.snapshot ->> 'strategy'::text) AS strategy,
    j.state,
    j.current_step,
    (j.state = 'waiting_for_review'::text) AS needs_review,
    j.total_rows,
    b.analysed_rows,
    b.error_rows,
    b.warning_rows,
    b.imported_rows,
    round(
        CASE
            WHEN (j.total_rows > 0) THEN ((100.0 * (b.analysed_rows)::numeric) / (j.total_rows)::numeric)
            WHEN (j.state = ANY (ARRAY['finished'::text, 'rejected'::text])) THEN (100)::numeric
            ELSE (0)::numeric
        END, 1) AS analysis_percent,
    round(
        CASE
            WHEN (j.state = 'finished'::text) THEN (100)::numeric
            WHEN (j.total_rows > b.error_rows) THEN ((100.0 * (b.imported_rows)::numeric) / ((j.total_rows - b.error_rows))::numeric)
            ELSE (0)::numeric
        END, 1) AS import_percent,
    (round(((b.analysed_rows)::numeric / NULLIF(EXTRACT(epoch FROM (COALESCE(j.analysis_stop_at, clock_timestamp()) - j.analysis_start_at)), (0)::numeric))))::integer AS analysis_rows_per_second,
    (round(((b.imported_rows)::numeric / NULLIF(EXTRACT(epoch FROM (COALESCE(j.processing_stop_at, clock_timestamp()) - j.processing_start_at)), (0)::numeric))))::integer AS import_rows_per_second,
    j.error,
    j.valid_from,
    j.valid_until,
    j.review,
    j.note,
    j.created_at,
    j.created_by,
    j.uploaded_at,
    j.finished_at,
    j.expires_at,
        CASE
            WHEN (j.state = ANY (ARRAY['upload_completed'::text, 'preparing_data'::text, 'analysing_data'::text, 'processing_data'::text])) THEN ( SELECT min(w.id) AS min
               FROM register.import_job w
              WHERE ((w.state = 'waiting_for_review'::text) AND (w.id <> j.id)))
            ELSE NULL::integer
        END AS held_by
   FROM (register.import_job j
     CROSS JOIN LATERAL ( SELECT (COALESCE(sum(b_1.rows) FILTER (WHERE (b_1.analysed_at IS NOT NULL)), (0)::bigint))::integer AS analysed_rows,
            (COALESCE(sum(b_1.error_rows), (0)::bigint))::integer AS error_rows,
            (COALESCE(sum(b_1.warning_rows), (0)::bigint))::integer AS warning_rows,
            (COALESCE(sum((b_1.rows - b_1.error_rows)) FILTER (WHERE (b_1.processed_at IS NOT NULL)), (0)::bigint))::integer AS imported_rows
           FROM register.import_batch b_1
          WHERE (b_1.job_id = j.id)) b);
ALTER VIEW register.import_job_progress OWNER TO register_owner;
CREATE TABLE register.import_link (
    job_id integer NOT NULL,
    row_no integer NOT NULL,
    batch_seq integer NOT NULL,
    unit_id integer,
    enterprise_id integer,
    owner_id integer,
    other_id integer,
    founding_row_no integer,
    is_new boolean NOT NULL,
    is_primary boolean,
    valid_from date,
    valid_until date,
    problem jsonb
)
WITH (autovacuum_analyze_threshold='2000000000');
ALTER TABLE register.import_link OWNER TO register_owner;
CREATE TABLE register.import_mapping (
    definition_id integer NOT NULL,
    column_name text NOT NULL,
    input_column text,
    value text,
    CONSTRAINT import_mapping_has_one_source CHECK ((num_nonnulls(input_column, value) = 1))
);
ALTER TABLE register.import_mapping OWNER TO register_owner;
CREATE TABLE register.import_upload (
    job_id integer NOT NULL,
    row_no integer NOT NULL,
    problem jsonb,
    valid_from text,
    valid_to text,
    name text,
    short_name text,
    birth_date text,
    death_date text,
    ident text[],
    owner_ident text[],
    other_ident text[],
    sector_code text,
    legal_form_code text,
    status_code text,
    unit_size_code text,
    data_source_code text,
    primary_activity_category_code text,
    secondary_activity_category_code text,
    physical_address_part1 text,
    physical_address_part2 text,
    physical_address_part3 text,
    physical_postcode text,
    physical_postplace text,
    physical_region_code text,
    physical_country_iso_2 text,
    physical_latitude text,
    physical_longitude text,
    physical_altitude text,
    postal_address_part1 text,
    postal_address_part2 text,
    postal_address_part3 text,
    postal_postcode text,
    postal_postplace text,
    postal_region_code text,
    postal_country_iso_2 text,
    web_address text,
    email_address text,
    phone_number text,
    landline text,
    mobile_number text,
    fax_number text,
    stat text[],
    tag_path text,
    rel_type_code text,
    percentage text,
    edit_comment text
)
WITH (autovacuum_analyze_threshold='2000000000');
ALTER TABLE register.import_upload OWNER TO register_owner;
CREATE VIEW register.import_row AS
 SELECT l.job_id,
    l.row_no,
    l.batch_seq,
        CASE
            WHEN d.has_error THEN 'error'::text
            WHEN (b.processed_at IS NOT NULL) THEN 'processed'::text
            WHEN (b.analysed_at IS NOT NULL) THEN 'analysed'::text
            ELSE 'pending'::text
        END AS state,
    d.operation,
    d.errors,
    d.warnings,
    COALESCE(d.ident, u.ident) AS ident,
    u.owner_ident,
    u.other_ident,
    COALESCE(d.name, u.name) AS name,
    l.valid_from,
    l.valid_until
   FROM (((( SELECT d_1.job_id,
            d_1.row_no,
            d_1.batch_seq,
            d_1.valid_from,
            d_1.valid_until
           FROM register.import_data d_1
        UNION ALL
         SELECT l_1.job_id,
            l_1.row_no,
            l_1.batch_seq,
            l_1.valid_from,
            l_1.valid_until
           FROM register.import_link l_1
          WHERE (NOT (EXISTS ( SELECT
                   FROM register.import_data d_1
                  WHERE ((d_1.job_id = l_1.job_id) AND (d_1.batch_seq = l_1.batch_seq) AND (d_1.row_no = l_1.row_no)))))) l
     JOIN register.import_batch b ON (((b.job_id = l.job_id) AND (b.batch_seq = l.batch_seq))))
     LEFT JOIN register.import_data d ON (((d.job_id = l.job_id) AND (d.batch_seq = l.batch_seq) AND (d.row_no = l.row_no))))
     LEFT JOIN register.import_upload u ON (((u.job_id = l.job_id) AND (u.row_no = l.row_no))));
ALTER VIEW register.import_row OWNER TO register_owner;
CREATE TABLE register.import_source_column (
    definition_id integer NOT NULL,
    column_name text NOT NULL
);
ALTER TABLE register.import_source_column OWNER TO register_owner;
ALTER TABLE register.legal_form ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.legal_form_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW register.legal_form_used AS
 SELECT id,
    code,
    name,
    enabled
   FROM register.legal_form c
  WHERE (EXISTS ( SELECT
           FROM register.used_code u
          WHERE ((u.kind = 'legal_form'::text) AND (u.code_id = c.id))));
ALTER VIEW register.legal_form_used OWNER TO register_owner;
ALTER TABLE register.legal_rel_type ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.legal_rel_type_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE register.legal_relationship (
    id integer NOT NULL,
    valid_from date NOT NULL,
    valid_until date DEFAULT 'infinity'::date NOT NULL,
    influencing_id integer NOT NULL,
    influenced_id integer NOT NULL,
    type_id integer NOT NULL,
    percentage numeric(5,2),
    primary_influencer_only boolean NOT NULL,
    derived_power_group_id integer,
    derived_influenced_power_level integer,
    data_source_id integer,
    edit_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    edit_by text DEFAULT SESSION_USER NOT NULL,
    edit_comment text,
    CONSTRAINT legal_relationship_in_years_1_to_9999 CHECK ((((valid_from >= '0001-01-01'::date) AND (valid_from <= '9999-12-30'::date)) AND ((valid_until <= '9999-12-30'::date) OR (valid_until = 'infinity'::date)) AND (((edit_at AT TIME ZONE '00:00:00'::interval) >= '0001-01-02 00:00:00'::timestamp without time zone) AND ((edit_at AT TIME ZONE '00:00:00'::interval) <= '9999-12-31 00:00:00'::timestamp without time zone)))),
    CONSTRAINT legal_relationship_is_of_two CHECK ((influencing_id <> influenced_id)),
    CONSTRAINT legal_relationship_is_percentage CHECK (((percentage > (0)::numeric) AND (percentage <= (100)::numeric))),
    CONSTRAINT legal_relationship_valid CHECK ((valid_from < valid_until))
);
ALTER TABLE register.legal_relationship OWNER TO register_owner;
ALTER TABLE register.legal_relationship ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.legal_relationship_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE register.legal_unit (
    id integer NOT NULL,
    valid_from date NOT NULL,
    valid_until date DEFAULT 'infinity'::date NOT NULL,
    name text NOT NULL,
    short_name text,
    birth_date date,
    death_date date,
    sector_id integer,
    status_id integer NOT NULL,
    legal_form_id integer,
    unit_size_id integer,
    data_source_id integer,
    foreign_participation_id integer,
    image_id integer,
    enterprise_id integer NOT NULL,
    primary_for_enterprise boolean NOT NULL,
    edit_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    edit_by text DEFAULT SESSION_USER NOT NULL,
    edit_comment text,
    CONSTRAINT legal_unit_dies_after_birth CHECK ((death_date >= birth_date)),
    CONSTRAINT legal_unit_in_years_1_to_9999 CHECK ((((valid_from >= '0001-01-01'::date) AND (valid_from <= '9999-12-30'::date)) AND ((valid_until <= '9999-12-30'::date) OR (valid_until = 'infinity'::date)) AND ((birth_date >= '0001-01-01'::date) AND (birth_date <= '9999-12-31'::date)) AND ((death_date >= '0001-01-01'::date) AND (death_date <= '9999-12-31'::date)) AND (((edit_at AT TIME ZONE '00:00:00'::interval) >= '0001-01-02 00:00:00'::timestamp without time zone) AND ((edit_at AT TIME ZONE '00:00:00'::interval) <= '9999-12-31 00:00:00'::timestamp without time zone)))),
    CONSTRAINT legal_unit_name_has_a_length CHECK (((length(name) >= 1) AND (length(name) <= 256))),
    CONSTRAINT legal_unit_short_name_is_short CHECK ((length(short_name) <= 16)),
    CONSTRAINT legal_unit_valid CHECK ((valid_from < valid_until))
);
ALTER TABLE register.legal_unit OWNER TO register_owner;
CREATE SEQUENCE register.legal_unit_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE register.legal_unit_id_seq OWNER TO register_owner;
ALTER SEQUENCE register.legal_unit_id_seq OWNED BY register.legal_unit.id;
CREATE TABLE register.location (
    legal_unit_id integer,
    establishment_id integer,
    type text NOT NULL COLLATE pg_catalog."C",
    valid_from date NOT NULL,
    valid_until date DEFAULT 'infinity'::date NOT NULL,
    address_part1 text,
    address_part2 text,
    address_part3 text,
    postcode text,
    postplace text,
    region_id integer,
    country_id integer NOT NULL,
    latitude numeric(9,6),
    longitude numeric(9,6),
    altitude numeric(6,1),
    data_source_id integer,
    edit_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    edit_by text DEFAULT SESSION_USER NOT NULL,
    edit_comment text,
    CONSTRAINT location_coordinates_physical CHECK (((type = 'physical'::text) OR (num_nonnulls(latitude, longitude, altitude) = 0))),
    CONSTRAINT location_has_one_owner CHECK (((legal_unit_id IS NULL) <> (establishment_id IS NULL))),
    CONSTRAINT location_in_years_1_to_9999 CHECK ((((valid_from >= '0001-01-01'::date) AND (valid_from <= '9999-12-30'::date)) AND ((valid_until <= '9999-12-30'::date) OR (valid_until = 'infinity'::date)) AND (((edit_at AT TIME ZONE '00:00:00'::interval) >= '0001-01-02 00:00:00'::timestamp without time zone) AND ((edit_at AT TIME ZONE '00:00:00'::interval) <= '9999-12-31 00:00:00'::timestamp without time zone)))),
    CONSTRAINT location_latitude_range CHECK (((latitude >= ('-90'::integer)::numeric) AND (latitude <= (90)::numeric))),
    CONSTRAINT location_longitude_range CHECK (((longitude >= ('-180'::integer)::numeric) AND (longitude <= (180)::numeric))),
    CONSTRAINT location_type_is_known CHECK ((type = ANY (ARRAY['physical'::text, 'postal'::text]))),
    CONSTRAINT location_valid CHECK ((valid_from < valid_until))
);
ALTER TABLE register.location OWNER TO register_owner;
CREATE TABLE register.migration (
    number integer NOT NULL,
    name text NOT NULL,
    digest text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE register.migration OWNER TO register_owner;
CREATE TABLE register.person (
    id integer NOT NULL,
    given_name text,
    family_name text,
    birth_date date,
    edit_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    edit_by text DEFAULT SESSION_USER NOT NULL,
    edit_comment text,
    CONSTRAINT person_in_years_1_to_9999 CHECK ((((birth_date >= '0001-01-01'::date) AND (birth_date <= '9999-12-31'::date)) AND (((edit_at AT TIME ZONE '00:00:00'::interval) >= '0001-01-02 00:00:00'::timestamp without time zone) AND ((edit_at AT TIME ZONE '00:00:00'::interval) <= '9999-12-31 00:00:00'::timestamp without time zone))))
);
ALTER TABLE register.person OWNER TO register_owner;
CREATE TABLE register.person_for_unit (
    legal_unit_id integer,
    establishment_id integer,
    person_id integer NOT NULL,
    person_role_id integer,
    valid_from date NOT NULL,
    valid_until date DEFAULT 'infinity'::date NOT NULL,
    data_source_id integer,
    edit_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    edit_by text DEFAULT SESSION_USER NOT NULL,
    edit_comment text,
    CONSTRAINT person_for_unit_has_one_owner CHECK (((legal_unit_id IS NULL) <> (establishment_id IS NULL))),
    CONSTRAINT person_for_unit_in_years_1_to_9999 CHECK ((((valid_from >= '0001-01-01'::date) AND (valid_from <= '9999-12-30'::date)) AND ((valid_until <= '9999-12-30'::date) OR (valid_until = 'infinity'::date)) AND (((edit_at AT TIME ZONE '00:00:00'::interval) >= '0001-01-02 00:00:00'::timestamp without time zone) AND ((edit_at AT TIME ZONE '00:00:00'::interval) <= '9999-12-31 00:00:00'::timestamp without time zone)))),
    CONSTRAINT person_for_unit_valid CHECK ((valid_from < valid_until))
);
ALTER TABLE register.person_for_unit OWNER TO register_owner;
ALTER TABLE register.person ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.person_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE register.person_role (
    id integer NOT NULL,
    code text NOT NULL,
    name text NOT NULL,
    enabled boolean DEFAULT true NOT NULL
);
ALTER TABLE register.person_role OWNER TO register_owner;
ALTER TABLE register.person_role ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.person_role_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE register.pipeline_step_weight (
    step text NOT NULL,
    phase text NOT NULL,
    seq integer NOT NULL,
    weight numeric NOT NULL,
    CONSTRAINT pipeline_step_weight_is_positive CHECK ((weight > (0)::numeric)),
    CONSTRAINT pipeline_step_weight_phase_is_known CHECK ((phase = ANY (ARRAY['units'::text, 'reports'::text])))
);
ALTER TABLE register.pipeline_step_weight OWNER TO register_owner;
CREATE TABLE register.power_group (
    id integer NOT NULL,
    ident text NOT NULL COLLATE pg_catalog."C",
    name text,
    short_name text,
    type_id integer,
    edit_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    edit_by text DEFAULT SESSION_USER NOT NULL,
    edit_comment text,
    CONSTRAINT power_group_in_years_1_to_9999 CHECK ((((edit_at AT TIME ZONE '00:00:00'::interval) >= '0001-01-02 00:00:00'::timestamp without time zone) AND ((edit_at AT TIME ZONE '00:00:00'::interval) <= '9999-12-31 00:00:00'::timestamp without time zone))),
    CONSTRAINT power_group_name_has_a_length CHECK (((length(name) >= 1) AND (length(name) <= 256))),
    CONSTRAINT power_group_short_name_is_short CHECK ((length(short_name) <= 16))
);
ALTER TABLE register.power_group OWNER TO register_owner;
ALTER TABLE register.power_group ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.power_group_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE register.power_group_type (
    id integer NOT NULL,
    code text NOT NULL,
    name text NOT NULL,
    enabled boolean DEFAULT true NOT NULL
);
ALTER TABLE register.power_group_type OWNER TO register_owner;
ALTER TABLE register.power_group_type ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.power_group_type_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE register.power_root (
    power_group_id integer NOT NULL,
    valid_from date NOT NULL,
    valid_until date DEFAULT 'infinity'::date NOT NULL,
    derived_root_legal_unit_id integer,
    custom_root_legal_unit_id integer,
    root_legal_unit_id integer GENERATED ALWAYS AS (COALESCE(custom_root_legal_unit_id, derived_root_legal_unit_id)) STORED,
    edit_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    edit_by text DEFAULT SESSION_USER NOT NULL,
    edit_comment text,
    CONSTRAINT power_root_in_years_1_to_9999 CHECK ((((valid_from >= '0001-01-01'::date) AND (valid_from <= '9999-12-30'::date)) AND ((valid_until <= '9999-12-30'::date) OR (valid_until = 'infinity'::date)) AND (((edit_at AT TIME ZONE '00:00:00'::interval) >= '0001-01-02 00:00:00'::timestamp without time zone) AND ((edit_at AT TIME ZONE '00:00:00'::interval) <= '9999-12-31 00:00:00'::timestamp without time zone)))),
    CONSTRAINT power_root_valid CHECK ((valid_from < valid_until))
);
ALTER TABLE register.power_root OWNER TO register_owner;
CREATE TABLE register.progress_notice (
    is_one boolean DEFAULT true NOT NULL,
    notified_at timestamp with time zone NOT NULL,
    CONSTRAINT progress_notice_is_one_check CHECK (is_one)
);
ALTER TABLE register.progress_notice OWNER TO register_owner;
ALTER TABLE register.region ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.region_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW register.region_used AS
 SELECT id,
    version_id,
    path,
    code,
    name,
    description,
    enabled
   FROM register.region c
  WHERE (EXISTS ( SELECT
           FROM (register.used_code u
             JOIN register.region n ON ((n.id = u.code_id)))
          WHERE ((u.kind = 'region'::text) AND ((n.path = c.path) OR starts_with(n.path, (c.path || '.'::text))) AND (n.version_id = c.version_id))));
ALTER VIEW register.region_used OWNER TO register_owner;
CREATE TABLE register.region_version (
    id integer NOT NULL,
    code text NOT NULL,
    name text,
    enabled boolean DEFAULT true NOT NULL
);
ALTER TABLE register.region_version OWNER TO register_owner;
ALTER TABLE register.region_version ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.region_version_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE UNLOGGED TABLE register.report_cell (
    round_id bigint NOT NULL,
    report text NOT NULL COLLATE pg_catalog."C",
    partition_seq integer NOT NULL,
    flush_id bigint NOT NULL,
    sign smallint NOT NULL,
    weight integer NOT NULL,
    facet_key uuid NOT NULL,
    unit_type text NOT NULL COLLATE pg_catalog."C",
    unit_id integer,
    valid_from date NOT NULL,
    valid_until date NOT NULL,
    next_from date NOT NULL,
    birth_key date,
    death_key date,
    used_for_counting boolean NOT NULL,
    primary_activity_category_path text COLLATE pg_catalog."C",
    secondary_activity_category_path text COLLATE pg_catalog."C",
    sector_path text COLLATE pg_catalog."C",
    legal_form_id integer,
    physical_region_path text COLLATE pg_catalog."C",
    physical_country_id integer,
    unit_size_id integer,
    status_id integer,
    name text,
    address_key text,
    moments register.moment[],
    value_counts jsonb,
    CONSTRAINT report_cell_report_is_known CHECK ((report = ANY (ARRAY['history'::text, 'facet'::text])))
)
WITH (autovacuum_analyze_threshold='2000000000');
ALTER TABLE register.report_cell OWNER TO register_owner;
CREATE TABLE register.report_state (
    report text NOT NULL,
    applied_flush_id bigint,
    through date,
    CONSTRAINT report_state_report_is_known CHECK ((report = ANY (ARRAY['statistical_history'::text, 'statistical_unit_facet'::text, 'statistical_history_facet'::text])))
);
ALTER TABLE register.report_state OWNER TO register_owner;
CREATE TABLE register.round_batch (
    round_id bigint NOT NULL,
    stage text NOT NULL COLLATE pg_catalog."C",
    batch_seq integer NOT NULL,
    staged_rows integer NOT NULL,
    establishment_ids int4multirange,
    legal_unit_ids int4multirange,
    enterprise_ids int4multirange,
    power_group_ids int4multirange,
    CONSTRAINT round_batch_stage_is_known CHECK ((stage = ANY (ARRAY['units'::text, 'history'::text, 'facet'::text, 'history_facet'::text])))
);
ALTER TABLE register.round_batch OWNER TO register_owner;
ALTER TABLE register.round ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME register.round_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE register.sector ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.sector_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW register.sector_used AS
 SELECT id,
    path,
    code,
    name,
    description,
    enabled
   FROM register.sector c
  WHERE (EXISTS ( SELECT
           FROM (register.used_code u
             JOIN register.sector n ON ((n.id = u.code_id)))
          WHERE ((u.kind = 'sector'::text) AND ((n.path = c.path) OR starts_with(n.path, (c.path || '.'::text))))));
ALTER VIEW register.sector_used OWNER TO register_owner;
CREATE UNLOGGED TABLE register.staging_mark (
    round_id bigint NOT NULL
);
ALTER TABLE register.staging_mark OWNER TO register_owner;
ALTER TABLE register.stat_definition ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.stat_definition_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE register.stat_for_unit (
    legal_unit_id integer,
    establishment_id integer,
    stat_definition_id integer NOT NULL,
    valid_from date NOT NULL,
    valid_until date DEFAULT 'infinity'::date NOT NULL,
    value_int bigint,
    value_float double precision,
    value_string text,
    value_bool boolean,
    data_source_id integer,
    edit_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    edit_by text DEFAULT SESSION_USER NOT NULL,
    edit_comment text,
    CONSTRAINT stat_for_unit_has_one_owner CHECK (((legal_unit_id IS NULL) <> (establishment_id IS NULL))),
    CONSTRAINT stat_for_unit_in_years_1_to_9999 CHECK ((((valid_from >= '0001-01-01'::date) AND (valid_from <= '9999-12-30'::date)) AND ((valid_until <= '9999-12-30'::date) OR (valid_until = 'infinity'::date)) AND (((edit_at AT TIME ZONE '00:00:00'::interval) >= '0001-01-02 00:00:00'::timestamp without time zone) AND ((edit_at AT TIME ZONE '00:00:00'::interval) <= '9999-12-31 00:00:00'::timestamp without time zone)))),
    CONSTRAINT stat_for_unit_valid CHECK ((valid_from < valid_until)),
    CONSTRAINT stat_has_one_value CHECK ((num_nonnulls(value_int, value_float, value_string, value_bool) = 1)),
    CONSTRAINT stat_is_a_number CHECK ((value_float <> ALL (ARRAY['NaN'::double precision, 'Infinity'::double precision, '-Infinity'::double precision])))
);
ALTER TABLE register.stat_for_unit OWNER TO register_owner;
CREATE TABLE register.statistical_history_row (
    resolution text NOT NULL COLLATE pg_catalog."C",
    year smallint NOT NULL,
    month smallint,
    facet_key uuid NOT NULL,
    unit_type text NOT NULL COLLATE pg_catalog."C",
    primary_activity_category_path text COLLATE pg_catalog."C",
    secondary_activity_category_path text COLLATE pg_catalog."C",
    sector_path text COLLATE pg_catalog."C",
    legal_form_id integer,
    physical_region_path text COLLATE pg_catalog."C",
    physical_country_id integer,
    unit_size_id integer,
    status_id integer,
    unit_count integer NOT NULL,
    measures register.measures NOT NULL,
    moments register.moment[],
    value_counts jsonb,
    CONSTRAINT statistical_history_row_month CHECK (((month IS NULL) = (resolution = 'year'::text))),
    CONSTRAINT statistical_history_row_resolution_is_known CHECK ((resolution = ANY (ARRAY['year'::text, 'year-month'::text])))
);
ALTER TABLE register.statistical_history_row OWNER TO register_owner;
CREATE VIEW register.statistical_history AS
 SELECT resolution,
    year,
    month,
    unit_type,
    (measures).exists_count AS exists_count,
    (measures).exists_change AS exists_change,
    (measures).exists_added_count AS exists_added_count,
    (measures).exists_removed_count AS exists_removed_count,
    (measures).countable_count AS countable_count,
    (measures).countable_change AS countable_change,
    (measures).countable_added_count AS countable_added_count,
    (measures).countable_removed_count AS countable_removed_count,
    (measures).births AS births,
    (measures).deaths AS deaths,
    (measures).name_change_count AS name_change_count,
    (measures).primary_activity_category_change_count AS primary_activity_category_change_count,
    (measures).secondary_activity_category_change_count AS secondary_activity_category_change_count,
    (measures).sector_change_count AS sector_change_count,
    (measures).legal_form_change_count AS legal_form_change_count,
    (measures).physical_region_change_count AS physical_region_change_count,
    (measures).physical_country_change_count AS physical_country_change_count,
    (measures).physical_address_change_count AS physical_address_change_count,
    register.stats_summary(moments, value_counts) AS stats_summary
   FROM register.statistical_history_row h;
ALTER VIEW register.statistical_history OWNER TO register_owner;
CREATE TABLE register.statistical_history_facet_row (
    resolution text CONSTRAINT statistical_history_row_resolution_not_null NOT NULL COLLATE pg_catalog."C",
    year smallint CONSTRAINT statistical_history_row_year_not_null NOT NULL,
    month smallint,
    facet_key uuid CONSTRAINT statistical_history_row_facet_key_not_null NOT NULL,
    unit_type text CONSTRAINT statistical_history_row_unit_type_not_null NOT NULL COLLATE pg_catalog."C",
    primary_activity_category_path text COLLATE pg_catalog."C",
    secondary_activity_category_path text COLLATE pg_catalog."C",
    sector_path text COLLATE pg_catalog."C",
    legal_form_id integer,
    physical_region_path text COLLATE pg_catalog."C",
    physical_country_id integer,
    unit_size_id integer,
    status_id integer,
    unit_count integer CONSTRAINT statistical_history_row_unit_count_not_null NOT NULL,
    measures register.measures CONSTRAINT statistical_history_row_measures_not_null NOT NULL,
    moments register.moment[],
    value_counts jsonb,
    CONSTRAINT statistical_history_row_month CHECK (((month IS NULL) = (resolution = 'year'::text))),
    CONSTRAINT statistical_history_row_resolution_is_known CHECK ((resolution = ANY (ARRAY['year'::text, 'year-month'::text])))
)
WITH (fillfactor='85');
ALTER TABLE register.statistical_history_facet_row OWNER TO register_owner;
CREATE VIEW register.statistical_history_facet AS
 SELECT resolution,
    year,
    month,
    unit_type,
    primary_activity_category_path,
    secondary_activity_category_path,
    sector_path,
    legal_form_id,
    physical_region_path,
    physical_country_id,
    unit_size_id,
    status_id,
    (measures).exists_count AS exists_count,
    (measures).exists_change AS exists_change,
    (measures).exists_added_count AS exists_added_count,
    (measures).exists_removed_count AS exists_removed_count,
    (measures).countable_count AS countable_count,
    (measures).countable_change AS countable_change,
    (measures).countable_added_count AS countable_added_count,
    (measures).countable_removed_count AS countable_removed_count,
    (measures).births AS births,
    (measures).deaths AS deaths,
    (measures).name_change_count AS name_change_count,
    (measures).primary_activity_category_change_count AS primary_activity_category_change_count,
    (measures).secondary_activity_category_change_count AS secondary_activity_category_change_count,
    (measures).sector_change_count AS sector_change_count,
    (measures).legal_form_change_count AS legal_form_change_count,
    (measures).physical_region_change_count AS physical_region_change_count,
    (measures).physical_country_change_count AS physical_country_change_count,
    (measures).physical_address_change_count AS physical_address_change_count,
    (measures).unit_size_change_count AS unit_size_change_count,
    (measures).status_change_count AS status_change_count,
    register.stats_summary(moments, value_counts) AS stats_summary
   FROM register.statistical_history_facet_row h
  WHERE register.is_shown('statistical_history_facet'::text);
ALTER VIEW register.statistical_history_facet OWNER TO register_owner;
CREATE UNLOGGED TABLE register.statistical_history_staging (
    round_id bigint NOT NULL,
    batch_seq integer NOT NULL,
    resolution text CONSTRAINT statistical_history_row_resolution_not_null NOT NULL COLLATE pg_catalog."C",
    year smallint CONSTRAINT statistical_history_row_year_not_null NOT NULL,
    month smallint,
    facet_key uuid CONSTRAINT statistical_history_row_facet_key_not_null NOT NULL,
    unit_type text CONSTRAINT statistical_history_row_unit_type_not_null NOT NULL COLLATE pg_catalog."C",
    primary_activity_category_path text COLLATE pg_catalog."C",
    secondary_activity_category_path text COLLATE pg_catalog."C",
    sector_path text COLLATE pg_catalog."C",
    legal_form_id integer,
    physical_region_path text COLLATE pg_catalog."C",
    physical_country_id integer,
    unit_size_id integer,
    status_id integer,
    unit_count integer CONSTRAINT statistical_history_row_unit_count_not_null NOT NULL,
    measures register.measures CONSTRAINT statistical_history_row_measures_not_null NOT NULL,
    moments register.moment[],
    value_counts jsonb,
    removed register.moment[],
    removed_counts jsonb,
    is_merged boolean DEFAULT false NOT NULL,
    merged register.moment[]
)
WITH (autovacuum_analyze_threshold='2000000000');
ALTER TABLE register.statistical_history_staging OWNER TO register_owner;
CREATE TABLE register.tag_for_unit (
    tag_id integer NOT NULL,
    legal_unit_id integer,
    establishment_id integer,
    enterprise_id integer,
    power_group_id integer,
    edit_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    edit_by text DEFAULT SESSION_USER NOT NULL,
    edit_comment text,
    CONSTRAINT tag_for_unit_has_one_owner CHECK ((num_nonnulls(legal_unit_id, establishment_id, enterprise_id, power_group_id) = 1)),
    CONSTRAINT tag_for_unit_in_years_1_to_9999 CHECK ((((edit_at AT TIME ZONE '00:00:00'::interval) >= '0001-01-02 00:00:00'::timestamp without time zone) AND ((edit_at AT TIME ZONE '00:00:00'::interval) <= '9999-12-31 00:00:00'::timestamp without time zone)))
);
ALTER TABLE register.tag_for_unit OWNER TO register_owner;
CREATE VIEW register.statistical_unit AS
 SELECT r.unit_type,
    r.unit_id,
    r.valid_from,
        CASE
            WHEN (r.valid_until = 'infinity'::date) THEN r.valid_until
            ELSE (r.valid_until - 1)
        END AS valid_to,
    r.valid_until,
    COALESCE(
        CASE r.unit_type
            WHEN 'legal_unit'::text THEN ( SELECT jsonb_object_agg(t.code, i.ident) AS jsonb_object_agg
               FROM (register.external_ident i
                 JOIN register.external_ident_type t ON ((t.id = i.type_id)))
              WHERE (i.legal_unit_id = r.unit_id))
            WHEN 'establishment'::text THEN ( SELECT jsonb_object_agg(t.code, i.ident) AS jsonb_object_agg
               FROM (register.external_ident i
                 JOIN register.external_ident_type t ON ((t.id = i.type_id)))
              WHERE ((i.legal_unit_id IS NULL) AND (i.establishment_id = r.unit_id)))
            WHEN 'enterprise'::text THEN ( SELECT jsonb_object_agg(t.code, i.ident) AS jsonb_object_agg
               FROM (register.external_ident i
                 JOIN register.external_ident_type t ON ((t.id = i.type_id)))
              WHERE ((i.legal_unit_id IS NULL) AND (i.establishment_id IS NULL) AND (i.enterprise_id = r.unit_id)))
            WHEN 'power_group'::text THEN ( SELECT jsonb_object_agg(t.code, i.ident) AS jsonb_object_agg
               FROM (register.external_ident i
                 JOIN register.external_ident_type t ON ((t.id = i.type_id)))
              WHERE ((i.legal_unit_id IS NULL) AND (i.establishment_id IS NULL) AND (i.enterprise_id IS NULL) AND (i.power_group_id = r.unit_id)))
            ELSE NULL::jsonb
        END,
        CASE
            WHEN (r.unit_type = 'enterprise'::text) THEN COALESCE(( SELECT jsonb_object_agg(t.code, i.ident) AS jsonb_object_agg
               FROM (register.external_ident i
                 JOIN register.external_ident_type t ON ((t.id = i.type_id)))
              WHERE ((i.legal_unit_id IS NULL) AND (i.establishment_id = r.primary_establishment_id))), ( SELECT jsonb_object_agg(t.code, i.ident) AS jsonb_object_agg
               FROM (register.external_ident i
                 JOIN register.external_ident_type t ON ((t.id = i.type_id)))
              WHERE (i.legal_unit_id = r.primary_legal_unit_id)))
            ELSE NULL::jsonb
        END, '{}'::jsonb) AS external_idents,
    r.name,
    r.birth_date,
    r.death_date,
    register.name_words(r.name) AS search,
    r.primary_activity_category_id,
    pa.path AS primary_activity_category_path,
    pa.code AS primary_activity_category_code,
    r.secondary_activity_category_id,
    sa.path AS secondary_activity_category_path,
    sa.code AS secondary_activity_category_code,
    NULLIF(array_remove(ARRAY[pa.path, sa.path], NULL::text), '{}'::text[]) AS activity_category_paths,
    r.sector_id,
    sc.path AS sector_path,
    sc.code AS sector_code,
    sc.name AS sector_name,
    r.data_source_ids,
    ( SELECT array_agg(d.code ORDER BY d.id) AS array_agg
           FROM register.data_source d
          WHERE (d.id = ANY (r.data_source_ids))) AS data_source_codes,
    r.legal_form_id,
    lf.code AS legal_form_code,
    lf.name AS legal_form_name,
    r.physical_address_part1,
    r.physical_address_part2,
    r.physical_address_part3,
    r.physical_postcode,
    r.physical_postplace,
    r.physical_region_id,
    pr.path AS physical_region_path,
    pr.code AS physical_region_code,
    r.physical_country_id,
    pc.iso_2 AS physical_country_iso_2,
    r.physical_latitude,
    r.physical_longitude,
    r.physical_altitude,
    (r.physical_country_id = ( SELECT s.country_id
           FROM register.settings s)) AS domestic,
    r.postal_address_part1,
    r.postal_address_part2,
    r.postal_address_part3,
    r.postal_postcode,
    r.postal_postplace,
    r.postal_region_id,
    qr.path AS postal_region_path,
    qr.code AS postal_region_code,
    r.postal_country_id,
    qc.iso_2 AS postal_country_iso_2,
    r.web_address,
    r.email_address,
    r.phone_number,
    r.landline,
    r.mobile_number,
    r.fax_number,
    r.unit_size_id,
    us.code AS unit_size_code,
    r.status_id,
    st.code AS status_code,
    r.used_for_counting,
    r.last_edit_at,
    r.last_edit_by,
    r.last_edit_comment,
    r.has_legal_unit,
    r.related_establishment_ids,
    r.excluded_establishment_ids,
    r.included_establishment_ids,
    r.related_legal_unit_ids,
    r.excluded_legal_unit_ids,
    r.included_legal_unit_ids,
    r.related_enterprise_ids,
    r.excluded_enterprise_ids,
    r.included_enterprise_ids,
    cardinality(r.included_establishment_ids) AS included_establishment_count,
    cardinality(r.included_legal_unit_ids) AS included_legal_unit_count,
    cardinality(r.included_enterprise_ids) AS included_enterprise_count,
    COALESCE(( SELECT jsonb_object_agg(d.code, jsonb_build_object('type', d.type, 'value', v.value)) AS jsonb_object_agg
           FROM (jsonb_each(r.stat_values) v(id, value)
             JOIN register.stat_definition d ON ((d.id = (v.id)::integer)))), '{}'::jsonb) AS stats,
    register.stats_summary(r.moments, r.value_counts) AS stats_summary,
        CASE r.unit_type
            WHEN 'legal_unit'::text THEN ( SELECT array_agg(g.path ORDER BY g.path) AS array_agg
               FROM (register.tag_for_unit t
                 JOIN register.tag g ON ((g.id = t.tag_id)))
              WHERE (t.legal_unit_id = r.unit_id))
            WHEN 'establishment'::text THEN ( SELECT array_agg(g.path ORDER BY g.path) AS array_agg
               FROM (register.tag_for_unit t
                 JOIN register.tag g ON ((g.id = t.tag_id)))
              WHERE ((t.legal_unit_id IS NULL) AND (t.establishment_id = r.unit_id)))
            WHEN 'enterprise'::text THEN ( SELECT array_agg(g.path ORDER BY g.path) AS array_agg
               FROM (register.tag_for_unit t
                 JOIN register.tag g ON ((g.id = t.tag_id)))
              WHERE ((t.legal_unit_id IS NULL) AND (t.establishment_id IS NULL) AND (t.enterprise_id = r.unit_id)))
            WHEN 'power_group'::text THEN ( SELECT array_agg(g.path ORDER BY g.path) AS array_agg
               FROM (register.tag_for_unit t
                 JOIN register.tag g ON ((g.id = t.tag_id)))
              WHERE ((t.legal_unit_id IS NULL) AND (t.establishment_id IS NULL) AND (t.enterprise_id IS NULL) AND (t.power_group_id = r.unit_id)))
            ELSE NULL::text[]
        END AS tag_paths,
    r.hash_slot
   FROM ((((((((((register.statistical_unit_row r
     LEFT JOIN register.activity_category pa ON ((pa.id = r.primary_activity_category_id)))
     LEFT JOIN register.activity_category sa ON ((sa.id = r.secondary_activity_category_id)))
     LEFT JOIN register.sector sc ON ((sc.id = r.sector_id)))
     LEFT JOIN register.legal_form lf ON ((lf.id = r.legal_form_id)))
     LEFT JOIN register.region pr ON ((pr.id = r.physical_region_id)))
     LEFT JOIN register.country pc ON ((pc.id = r.physical_country_id)))
     LEFT JOIN register.region qr ON ((qr.id = r.postal_region_id)))
     LEFT JOIN register.country qc ON ((qc.id = r.postal_country_id)))
     LEFT JOIN register.unit_size us ON ((us.id = r.unit_size_id)))
     LEFT JOIN register.status st ON ((st.id = r.status_id)))
  WHERE register.is_shown('statistical_unit'::text);
ALTER VIEW register.statistical_unit OWNER TO register_owner;
CREATE TABLE register.statistical_unit_change (
    flush_id bigint NOT NULL,
    sign smallint NOT NULL,
    hash_slot smallint CONSTRAINT statistical_unit_row_hash_slot_not_null NOT NULL,
    is_only boolean CONSTRAINT statistical_unit_row_is_only_not_null NOT NULL,
    used_for_counting boolean CONSTRAINT statistical_unit_row_used_for_counting_not_null NOT NULL,
    unit_id integer CONSTRAINT statistical_unit_row_unit_id_not_null NOT NULL,
    valid_from date CONSTRAINT statistical_unit_row_valid_from_not_null NOT NULL,
    valid_until date CONSTRAINT statistical_unit_row_valid_until_not_null NOT NULL,
    next_from date CONSTRAINT statistical_unit_row_next_from_not_null NOT NULL,
    unit_type text CONSTRAINT statistical_unit_row_unit_type_not_null NOT NULL COLLATE pg_catalog."C",
    birth_date date,
    death_date date,
    primary_activity_category_id integer,
    secondary_activity_category_id integer,
    sector_id integer,
    legal_form_id integer,
    physical_region_id integer,
    physical_country_id integer,
    unit_size_id integer,
    status_id integer,
    moments register.moment[],
    value_counts jsonb,
    name text,
    physical_address_part1 text,
    physical_address_part2 text,
    physical_address_part3 text,
    physical_postcode text,
    physical_postplace text,
    postal_region_id integer,
    postal_country_id integer,
    data_source_ids integer[],
    has_legal_unit boolean CONSTRAINT statistical_unit_row_has_legal_unit_not_null NOT NULL,
    primary_legal_unit_id integer,
    primary_establishment_id integer,
    last_edit_at timestamp with time zone,
    physical_latitude numeric(9,6),
    physical_longitude numeric(9,6),
    physical_altitude numeric(6,1),
    related_establishment_ids integer[],
    excluded_establishment_ids integer[],
    included_establishment_ids integer[],
    related_legal_unit_ids integer[],
    excluded_legal_unit_ids integer[],
    included_legal_unit_ids integer[],
    related_enterprise_ids integer[],
    excluded_enterprise_ids integer[],
    included_enterprise_ids integer[],
    stat_values jsonb,
    postal_address_part1 text,
    postal_address_part2 text,
    postal_address_part3 text,
    postal_postcode text,
    postal_postplace text,
    web_address text,
    email_address text,
    phone_number text,
    landline text,
    mobile_number text,
    fax_number text,
    last_edit_by text,
    last_edit_comment text,
    CONSTRAINT statistical_unit_change_sign_is_known CHECK ((sign = ANY (ARRAY['-1'::integer, 1])))
);
ALTER TABLE register.statistical_unit_change OWNER TO register_owner;
CREATE TABLE register.statistical_unit_facet_row (
    facet_key uuid NOT NULL,
    valid_from date NOT NULL,
    valid_until date NOT NULL,
    unit_type text NOT NULL COLLATE pg_catalog."C",
    physical_region_path text COLLATE pg_catalog."C",
    primary_activity_category_path text COLLATE pg_catalog."C",
    sector_path text COLLATE pg_catalog."C",
    legal_form_id integer,
    physical_country_id integer,
    status_id integer,
    count integer NOT NULL,
    moments register.moment[],
    value_counts jsonb,
    CONSTRAINT statistical_unit_facet_row_counts CHECK ((count > 0))
)
WITH (fillfactor='85');
ALTER TABLE register.statistical_unit_facet_row OWNER TO register_owner;
CREATE VIEW register.statistical_unit_facet AS
 SELECT valid_from,
        CASE
            WHEN isfinite(valid_until) THEN (valid_until - 1)
            ELSE valid_until
        END AS valid_to,
    valid_until,
    unit_type,
    physical_region_path,
    primary_activity_category_path,
    sector_path,
    legal_form_id,
    physical_country_id,
    status_id,
    count,
    register.stats_summary(moments, value_counts) AS stats_summary
   FROM register.statistical_unit_facet_row f;
ALTER VIEW register.statistical_unit_facet OWNER TO register_owner;
CREATE TABLE register.statistical_unit_facet_dirty_partitions (
    flush_id bigint NOT NULL,
    hash_slot smallint NOT NULL
);
ALTER TABLE register.statistical_unit_facet_dirty_partitions OWNER TO register_owner;
ALTER TABLE register.status ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.status_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE register.tag ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.tag_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE register.temporal_table (
    table_name text NOT NULL,
    owner_columns text[] NOT NULL,
    key_columns text[] NOT NULL,
    data_columns text[] NOT NULL
);
ALTER TABLE register.temporal_table OWNER TO register_owner;
CREATE VIEW register.timesegments_years AS
 SELECT DISTINCT year
   FROM register.statistical_history_row h
  WHERE (resolution = 'year'::text);
ALTER VIEW register.timesegments_years OWNER TO register_owner;
CREATE TABLE register.unit_notes (
    notes text NOT NULL,
    legal_unit_id integer,
    establishment_id integer,
    enterprise_id integer,
    power_group_id integer,
    edit_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    edit_by text DEFAULT SESSION_USER NOT NULL,
    edit_comment text,
    CONSTRAINT unit_notes_has_one_owner CHECK ((num_nonnulls(legal_unit_id, establishment_id, enterprise_id, power_group_id) = 1)),
    CONSTRAINT unit_notes_in_years_1_to_9999 CHECK ((((edit_at AT TIME ZONE '00:00:00'::interval) >= '0001-01-02 00:00:00'::timestamp without time zone) AND ((edit_at AT TIME ZONE '00:00:00'::interval) <= '9999-12-31 00:00:00'::timestamp without time zone)))
);
ALTER TABLE register.unit_notes OWNER TO register_owner;
ALTER TABLE register.unit_size ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME register.unit_size_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE register.version (
    is_one boolean DEFAULT true NOT NULL,
    fingerprint text NOT NULL,
    compatible_from integer NOT NULL,
    release text NOT NULL,
    derivation integer,
    CONSTRAINT version_is_one_check CHECK (is_one)
);
ALTER TABLE register.version OWNER TO register_owner;
ALTER TABLE ONLY register.establishment ALTER COLUMN id SET DEFAULT nextval('register.establishment_id_seq'::regclass);
ALTER TABLE ONLY register.legal_unit ALTER COLUMN id SET DEFAULT nextval('register.legal_unit_id_seq'::regclass);
ALTER TABLE ONLY register.activity_category
    ADD CONSTRAINT activity_category_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.activity_category_standard
    ADD CONSTRAINT activity_category_standard_code_key UNIQUE (code);
ALTER TABLE ONLY register.activity_category
    ADD CONSTRAINT activity_category_standard_id_path_key UNIQUE (standard_id, path);
ALTER TABLE ONLY register.activity_category_standard
    ADD CONSTRAINT activity_category_standard_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.base_change_log
    ADD CONSTRAINT base_change_log_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.capture_pause
    ADD CONSTRAINT capture_pause_pkey PRIMARY KEY (xact);
ALTER TABLE ONLY register.collect_request
    ADD CONSTRAINT collect_request_pkey PRIMARY KEY (xact);
ALTER TABLE ONLY register.country
    ADD CONSTRAINT country_iso_2_key UNIQUE (iso_2);
ALTER TABLE ONLY register.country
    ADD CONSTRAINT country_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.data_source
    ADD CONSTRAINT data_source_code_key UNIQUE (code);
ALTER TABLE ONLY register.data_source
    ADD CONSTRAINT data_source_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.enterprise
    ADD CONSTRAINT enterprise_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.establishment
    ADD CONSTRAINT establishment_pkey PRIMARY KEY (id, valid_from);
ALTER TABLE ONLY register.external_ident
    ADD CONSTRAINT external_ident_pkey PRIMARY KEY (type_id, ident);
ALTER TABLE ONLY register.external_ident_type
    ADD CONSTRAINT external_ident_type_code_key UNIQUE (code);
ALTER TABLE ONLY register.external_ident_type
    ADD CONSTRAINT external_ident_type_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.external_ident_type
    ADD CONSTRAINT external_ident_type_priority_key UNIQUE (priority);
ALTER TABLE ONLY register.first_fill
    ADD CONSTRAINT first_fill_pkey PRIMARY KEY (report);
ALTER TABLE ONLY register.foreign_participation
    ADD CONSTRAINT foreign_participation_code_key UNIQUE (code);
ALTER TABLE ONLY register.foreign_participation
    ADD CONSTRAINT foreign_participation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.image
    ADD CONSTRAINT image_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.import_batch
    ADD CONSTRAINT import_batch_pkey PRIMARY KEY (job_id, batch_seq);
ALTER TABLE ONLY register.import_data
    ADD CONSTRAINT import_data_pkey PRIMARY KEY (job_id, batch_seq, row_no);
ALTER TABLE ONLY register.import_definition
    ADD CONSTRAINT import_definition_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.import_definition
    ADD CONSTRAINT import_definition_slug_key UNIQUE (slug);
ALTER TABLE ONLY register.import_job
    ADD CONSTRAINT import_job_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.import_job
    ADD CONSTRAINT import_job_slug_key UNIQUE (slug);
ALTER TABLE ONLY register.import_link
    ADD CONSTRAINT import_link_pkey PRIMARY KEY (job_id, batch_seq, row_no);
ALTER TABLE ONLY register.import_mapping
    ADD CONSTRAINT import_mapping_pkey PRIMARY KEY (definition_id, column_name);
ALTER TABLE ONLY register.import_source_column
    ADD CONSTRAINT import_source_column_pkey PRIMARY KEY (definition_id, column_name);
ALTER TABLE ONLY register.import_upload
    ADD CONSTRAINT import_upload_pkey PRIMARY KEY (job_id, row_no);
ALTER TABLE ONLY register.legal_form
    ADD CONSTRAINT legal_form_code_key UNIQUE (code);
ALTER TABLE ONLY register.legal_form
    ADD CONSTRAINT legal_form_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.legal_rel_type
    ADD CONSTRAINT legal_rel_type_code_key UNIQUE (code);
ALTER TABLE ONLY register.legal_rel_type
    ADD CONSTRAINT legal_rel_type_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.legal_relationship
    ADD CONSTRAINT legal_relationship_pkey PRIMARY KEY (id, valid_from);
ALTER TABLE ONLY register.legal_unit
    ADD CONSTRAINT legal_unit_pkey PRIMARY KEY (id, valid_from);
ALTER TABLE ONLY register.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (number);
ALTER TABLE ONLY register.person
    ADD CONSTRAINT person_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.person_role
    ADD CONSTRAINT person_role_code_key UNIQUE (code);
ALTER TABLE ONLY register.person_role
    ADD CONSTRAINT person_role_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.pipeline_step_weight
    ADD CONSTRAINT pipeline_step_weight_pkey PRIMARY KEY (step);
ALTER TABLE ONLY register.power_group
    ADD CONSTRAINT power_group_ident_key UNIQUE (ident);
ALTER TABLE ONLY register.power_group
    ADD CONSTRAINT power_group_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.power_group_type
    ADD CONSTRAINT power_group_type_code_key UNIQUE (code);
ALTER TABLE ONLY register.power_group_type
    ADD CONSTRAINT power_group_type_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.power_root
    ADD CONSTRAINT power_root_pkey PRIMARY KEY (power_group_id, valid_from);
ALTER TABLE ONLY register.progress_notice
    ADD CONSTRAINT progress_notice_pkey PRIMARY KEY (is_one);
ALTER TABLE ONLY register.region
    ADD CONSTRAINT region_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.region_version
    ADD CONSTRAINT region_version_code_key UNIQUE (code);
ALTER TABLE ONLY register.region
    ADD CONSTRAINT region_version_id_path_key UNIQUE (version_id, path);
ALTER TABLE ONLY register.region_version
    ADD CONSTRAINT region_version_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.report_state
    ADD CONSTRAINT report_state_pkey PRIMARY KEY (report);
ALTER TABLE ONLY register.round_batch
    ADD CONSTRAINT round_batch_pkey PRIMARY KEY (round_id, stage, batch_seq);
ALTER TABLE ONLY register.round
    ADD CONSTRAINT round_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.sector
    ADD CONSTRAINT sector_path_key UNIQUE (path);
ALTER TABLE ONLY register.sector
    ADD CONSTRAINT sector_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (is_one);
ALTER TABLE ONLY register.staging_mark
    ADD CONSTRAINT staging_mark_pkey PRIMARY KEY (round_id);
ALTER TABLE ONLY register.stat_definition
    ADD CONSTRAINT stat_definition_code_key UNIQUE (code);
ALTER TABLE ONLY register.stat_definition
    ADD CONSTRAINT stat_definition_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.stat_definition
    ADD CONSTRAINT stat_definition_priority_key UNIQUE (priority);
ALTER TABLE ONLY register.statistical_unit_facet_dirty_partitions
    ADD CONSTRAINT statistical_unit_facet_dirty_partitions_pkey PRIMARY KEY (flush_id, hash_slot);
ALTER TABLE ONLY register.statistical_unit_facet_row
    ADD CONSTRAINT statistical_unit_facet_row_pkey PRIMARY KEY (facet_key);
ALTER TABLE ONLY register.status
    ADD CONSTRAINT status_code_key UNIQUE (code);
ALTER TABLE ONLY register.status
    ADD CONSTRAINT status_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.tag
    ADD CONSTRAINT tag_path_key UNIQUE (path);
ALTER TABLE ONLY register.tag
    ADD CONSTRAINT tag_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.temporal_table
    ADD CONSTRAINT temporal_table_pkey PRIMARY KEY (table_name);
ALTER TABLE ONLY register.unit_size
    ADD CONSTRAINT unit_size_code_key UNIQUE (code);
ALTER TABLE ONLY register.unit_size
    ADD CONSTRAINT unit_size_pkey PRIMARY KEY (id);
ALTER TABLE ONLY register.used_code
    ADD CONSTRAINT used_code_pkey PRIMARY KEY (kind, code_id);
ALTER TABLE ONLY register.version
    ADD CONSTRAINT version_pkey PRIMARY KEY (is_one);
CREATE INDEX activity_category_code ON register.activity_category USING btree (standard_id, code_key);
CREATE UNIQUE INDEX activity_key ON register.activity USING btree (legal_unit_id, establishment_id, type, valid_from) NULLS NOT DISTINCT;
CREATE INDEX base_change_log_round ON register.base_change_log USING btree (round_id, id);
CREATE UNIQUE INDEX contact_key ON register.contact USING btree (legal_unit_id, establishment_id, valid_from) NULLS NOT DISTINCT;
CREATE INDEX enterprise_words ON register.enterprise USING gin (to_tsvector('simple'::regconfig, translate(short_name, '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~'::text, repeat(' '::text, 32)))) WHERE (short_name IS NOT NULL);
CREATE INDEX establishment_enterprise ON register.establishment USING btree (enterprise_id) WHERE (enterprise_id IS NOT NULL);
CREATE INDEX establishment_legal_unit ON register.establishment USING btree (legal_unit_id) WHERE (legal_unit_id IS NOT NULL);
CREATE UNIQUE INDEX external_ident_owner ON register.external_ident USING btree (legal_unit_id, establishment_id, enterprise_id, power_group_id, person_id, type_id) NULLS NOT DISTINCT;
CREATE INDEX import_data_errors ON register.import_data USING btree (job_id, row_no) WHERE (has_error OR (warnings IS NOT NULL));
CREATE INDEX import_job_expiry ON register.import_job USING btree (expires_at);
CREATE INDEX import_job_unfinished ON register.import_job USING btree (state, id) WHERE (state <> ALL (ARRAY['finished'::text, 'rejected'::text, 'failed'::text]));
CREATE INDEX legal_relationship_group ON register.legal_relationship USING btree (derived_power_group_id);
CREATE INDEX legal_relationship_influenced ON register.legal_relationship USING btree (influenced_id);
CREATE UNIQUE INDEX legal_relationship_key ON register.legal_relationship USING btree (influencing_id, influenced_id, type_id, valid_from);
CREATE INDEX legal_unit_enterprise ON register.legal_unit USING btree (enterprise_id);
CREATE UNIQUE INDEX location_key ON register.location USING btree (legal_unit_id, establishment_id, type, valid_from) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX person_for_unit_key ON register.person_for_unit USING btree (legal_unit_id, establishment_id, person_id, person_role_id, valid_from) NULLS NOT DISTINCT;
CREATE INDEX person_for_unit_person ON register.person_for_unit USING btree (person_id);
CREATE UNIQUE INDEX round_one_open ON register.round USING btree (state) WHERE (state = 'open'::text);
CREATE UNIQUE INDEX stat_for_unit_key ON register.stat_for_unit USING btree (legal_unit_id, establishment_id, stat_definition_id, valid_from) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX statistical_history_facet_key ON register.statistical_history_facet_row USING btree (facet_key, (((year * 100) + COALESCE((month)::integer, 0))));
CREATE INDEX statistical_history_facet_month ON register.statistical_history_facet_row USING btree (year, month) WHERE (resolution = 'year-month'::text);
CREATE INDEX statistical_history_facet_year ON register.statistical_history_facet_row USING btree (year) WHERE (resolution = 'year'::text);
CREATE UNIQUE INDEX statistical_history_key ON register.statistical_history_row USING btree (facet_key, (((year * 100) + COALESCE((month)::integer, 0))));
CREATE INDEX statistical_unit_change_flush ON register.statistical_unit_change USING btree (flush_id);
CREATE INDEX statistical_unit_facet_valid ON register.statistical_unit_facet_row USING btree (valid_from, valid_until);
CREATE UNIQUE INDEX statistical_unit_key ON register.statistical_unit_row USING btree (unit_type, unit_id, valid_from);
CREATE UNIQUE INDEX status_one_default ON register.status USING btree (assigned_by_default) WHERE assigned_by_default;
CREATE UNIQUE INDEX tag_for_unit_key ON register.tag_for_unit USING btree (legal_unit_id, establishment_id, enterprise_id, power_group_id, tag_id) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX unit_notes_key ON register.unit_notes USING btree (legal_unit_id, establishment_id, enterprise_id, power_group_id) NULLS NOT DISTINCT;
CREATE TRIGGER capture_delete AFTER DELETE ON register.activity REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_owned();
CREATE TRIGGER capture_delete AFTER DELETE ON register.contact REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_owned();
CREATE TRIGGER capture_delete AFTER DELETE ON register.enterprise REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_enterprise();
CREATE TRIGGER capture_delete AFTER DELETE ON register.establishment REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_establishment();
CREATE TRIGGER capture_delete AFTER DELETE ON register.external_ident REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_named();
CREATE TRIGGER capture_delete AFTER DELETE ON register.legal_relationship REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_relationship();
CREATE TRIGGER capture_delete AFTER DELETE ON register.legal_unit REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_legal_unit();
CREATE TRIGGER capture_delete AFTER DELETE ON register.location REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_owned();
CREATE TRIGGER capture_delete AFTER DELETE ON register.person_for_unit REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_owned();
CREATE TRIGGER capture_delete AFTER DELETE ON register.power_group REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_power_group();
CREATE TRIGGER capture_delete AFTER DELETE ON register.power_root REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_power_root();
CREATE TRIGGER capture_delete AFTER DELETE ON register.stat_for_unit REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_owned();
CREATE TRIGGER capture_delete AFTER DELETE ON register.tag_for_unit REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_named();
CREATE TRIGGER capture_insert AFTER INSERT ON register.activity REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_owned();
CREATE TRIGGER capture_insert AFTER INSERT ON register.contact REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_owned();
CREATE TRIGGER capture_insert AFTER INSERT ON register.enterprise REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_enterprise();
CREATE TRIGGER capture_insert AFTER INSERT ON register.establishment REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_establishment();
CREATE TRIGGER capture_insert AFTER INSERT ON register.external_ident REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_named();
CREATE TRIGGER capture_insert AFTER INSERT ON register.legal_relationship REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_relationship();
CREATE TRIGGER capture_insert AFTER INSERT ON register.legal_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_legal_unit();
CREATE TRIGGER capture_insert AFTER INSERT ON register.location REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_owned();
CREATE TRIGGER capture_insert AFTER INSERT ON register.person_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_owned();
CREATE TRIGGER capture_insert AFTER INSERT ON register.power_group REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_power_group();
CREATE TRIGGER capture_insert AFTER INSERT ON register.power_root REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_power_root();
CREATE TRIGGER capture_insert AFTER INSERT ON register.stat_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_owned();
CREATE TRIGGER capture_insert AFTER INSERT ON register.tag_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_named();
CREATE TRIGGER capture_path AFTER UPDATE ON register.activity_category REFERENCING OLD TABLE AS was NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_path();
CREATE TRIGGER capture_path AFTER UPDATE ON register.region REFERENCING OLD TABLE AS was NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_path();
CREATE TRIGGER capture_path AFTER UPDATE ON register.sector REFERENCING OLD TABLE AS was NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_path();
CREATE TRIGGER capture_status AFTER UPDATE ON register.status REFERENCING OLD TABLE AS was NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_status();
CREATE TRIGGER capture_update_from AFTER UPDATE ON register.activity REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_owned();
CREATE TRIGGER capture_update_from AFTER UPDATE ON register.contact REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_owned();
CREATE TRIGGER capture_update_from AFTER UPDATE ON register.enterprise REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_enterprise();
CREATE TRIGGER capture_update_from AFTER UPDATE ON register.establishment REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_establishment();
CREATE TRIGGER capture_update_from AFTER UPDATE ON register.external_ident REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_named();
CREATE TRIGGER capture_update_from AFTER UPDATE ON register.legal_relationship REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_relationship();
CREATE TRIGGER capture_update_from AFTER UPDATE ON register.legal_unit REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_legal_unit();
CREATE TRIGGER capture_update_from AFTER UPDATE ON register.location REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_owned();
CREATE TRIGGER capture_update_from AFTER UPDATE ON register.person_for_unit REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_owned();
CREATE TRIGGER capture_update_from AFTER UPDATE ON register.power_group REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_power_group();
CREATE TRIGGER capture_update_from AFTER UPDATE ON register.power_root REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_power_root();
CREATE TRIGGER capture_update_from AFTER UPDATE ON register.stat_for_unit REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_owned();
CREATE TRIGGER capture_update_from AFTER UPDATE ON register.tag_for_unit REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_named();
CREATE TRIGGER capture_update_to AFTER UPDATE ON register.activity REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_owned();
CREATE TRIGGER capture_update_to AFTER UPDATE ON register.contact REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_owned();
CREATE TRIGGER capture_update_to AFTER UPDATE ON register.enterprise REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_enterprise();
CREATE TRIGGER capture_update_to AFTER UPDATE ON register.establishment REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_establishment();
CREATE TRIGGER capture_update_to AFTER UPDATE ON register.external_ident REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_named();
CREATE TRIGGER capture_update_to AFTER UPDATE ON register.legal_relationship REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_relationship();
CREATE TRIGGER capture_update_to AFTER UPDATE ON register.legal_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_legal_unit();
CREATE TRIGGER capture_update_to AFTER UPDATE ON register.location REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_owned();
CREATE TRIGGER capture_update_to AFTER UPDATE ON register.person_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_owned();
CREATE TRIGGER capture_update_to AFTER UPDATE ON register.power_group REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_power_group();
CREATE TRIGGER capture_update_to AFTER UPDATE ON register.power_root REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_power_root();
CREATE TRIGGER capture_update_to AFTER UPDATE ON register.stat_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_owned();
CREATE TRIGGER capture_update_to AFTER UPDATE ON register.tag_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.capture_named();
CREATE TRIGGER copy_primary_influencer BEFORE INSERT OR UPDATE OF type_id, primary_influencer_only ON register.legal_relationship FOR EACH ROW EXECUTE FUNCTION register.copy_primary_influencer();
CREATE TRIGGER give_way BEFORE INSERT ON register.power_root FOR EACH ROW WHEN ((new.custom_root_legal_unit_id IS NOT NULL)) EXECUTE FUNCTION register.give_way();
CREATE TRIGGER guard_1_owner_insert AFTER INSERT ON register.external_ident REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_owner('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment', 'enterprise_id', 'enterprise', 'power_group_id', 'power_group', 'person_id', 'person');
CREATE TRIGGER guard_1_owner_insert AFTER INSERT ON register.tag_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_owner('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment', 'enterprise_id', 'enterprise', 'power_group_id', 'power_group');
CREATE TRIGGER guard_1_owner_insert AFTER INSERT ON register.unit_notes REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_owner('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment', 'enterprise_id', 'enterprise', 'power_group_id', 'power_group');
CREATE TRIGGER guard_1_owner_update AFTER UPDATE ON register.external_ident REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_owner('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment', 'enterprise_id', 'enterprise', 'power_group_id', 'power_group', 'person_id', 'person');
CREATE TRIGGER guard_1_owner_update AFTER UPDATE ON register.tag_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_owner('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment', 'enterprise_id', 'enterprise', 'power_group_id', 'power_group');
CREATE TRIGGER guard_1_owner_update AFTER UPDATE ON register.unit_notes REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_owner('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment', 'enterprise_id', 'enterprise', 'power_group_id', 'power_group');
CREATE TRIGGER guard_1_parent_insert AFTER INSERT ON register.activity REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_parent('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment');
CREATE TRIGGER guard_1_parent_insert AFTER INSERT ON register.contact REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_parent('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment');
CREATE TRIGGER guard_1_parent_insert AFTER INSERT ON register.establishment REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_parent('legal_unit_id', 'legal_unit', 'enterprise_id', 'enterprise');
CREATE TRIGGER guard_1_parent_insert AFTER INSERT ON register.legal_relationship REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_parent('influencing_id', 'legal_unit', 'influenced_id', 'legal_unit');
CREATE TRIGGER guard_1_parent_insert AFTER INSERT ON register.legal_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_parent('enterprise_id', 'enterprise');
CREATE TRIGGER guard_1_parent_insert AFTER INSERT ON register.location REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_parent('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment');
CREATE TRIGGER guard_1_parent_insert AFTER INSERT ON register.person_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_parent('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment', 'person_id', 'person');
CREATE TRIGGER guard_1_parent_insert AFTER INSERT ON register.power_root REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_parent('power_group_id', 'power_group');
CREATE TRIGGER guard_1_parent_insert AFTER INSERT ON register.stat_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_parent('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment');
CREATE TRIGGER guard_1_parent_update AFTER UPDATE ON register.activity REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_parent('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment');
CREATE TRIGGER guard_1_parent_update AFTER UPDATE ON register.contact REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_parent('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment');
CREATE TRIGGER guard_1_parent_update AFTER UPDATE ON register.establishment REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_parent('legal_unit_id', 'legal_unit', 'enterprise_id', 'enterprise');
CREATE TRIGGER guard_1_parent_update AFTER UPDATE ON register.legal_relationship REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_parent('influencing_id', 'legal_unit', 'influenced_id', 'legal_unit');
CREATE TRIGGER guard_1_parent_update AFTER UPDATE ON register.legal_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_parent('enterprise_id', 'enterprise');
CREATE TRIGGER guard_1_parent_update AFTER UPDATE ON register.location REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_parent('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment');
CREATE TRIGGER guard_1_parent_update AFTER UPDATE ON register.person_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_parent('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment', 'person_id', 'person');
CREATE TRIGGER guard_1_parent_update AFTER UPDATE ON register.power_root REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_parent('power_group_id', 'power_group');
CREATE TRIGGER guard_1_parent_update AFTER UPDATE ON register.stat_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_parent('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment');
CREATE TRIGGER guard_2_overlap_insert AFTER INSERT ON register.activity REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_overlap('legal_unit_id,type', 'establishment_id,type');
CREATE TRIGGER guard_2_overlap_insert AFTER INSERT ON register.contact REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_overlap('legal_unit_id', 'establishment_id');
CREATE TRIGGER guard_2_overlap_insert AFTER INSERT ON register.establishment REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_overlap('id');
CREATE TRIGGER guard_2_overlap_insert AFTER INSERT ON register.legal_relationship REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_overlap('influencing_id,influenced_id,type_id');
CREATE TRIGGER guard_2_overlap_insert AFTER INSERT ON register.legal_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_overlap('id');
CREATE TRIGGER guard_2_overlap_insert AFTER INSERT ON register.location REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_overlap('legal_unit_id,type', 'establishment_id,type');
CREATE TRIGGER guard_2_overlap_insert AFTER INSERT ON register.person_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_overlap('legal_unit_id,person_id,person_role_id', 'establishment_id,person_id,person_role_id');
CREATE TRIGGER guard_2_overlap_insert AFTER INSERT ON register.power_root REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_overlap('power_group_id');
CREATE TRIGGER guard_2_overlap_insert AFTER INSERT ON register.stat_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_overlap('legal_unit_id,stat_definition_id', 'establishment_id,stat_definition_id');
CREATE TRIGGER guard_2_overlap_update AFTER UPDATE ON register.activity REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_overlap('legal_unit_id,type', 'establishment_id,type');
CREATE TRIGGER guard_2_overlap_update AFTER UPDATE ON register.contact REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_overlap('legal_unit_id', 'establishment_id');
CREATE TRIGGER guard_2_overlap_update AFTER UPDATE ON register.establishment REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_overlap('id');
CREATE TRIGGER guard_2_overlap_update AFTER UPDATE ON register.legal_relationship REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_overlap('influencing_id,influenced_id,type_id');
CREATE TRIGGER guard_2_overlap_update AFTER UPDATE ON register.legal_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_overlap('id');
CREATE TRIGGER guard_2_overlap_update AFTER UPDATE ON register.location REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_overlap('legal_unit_id,type', 'establishment_id,type');
CREATE TRIGGER guard_2_overlap_update AFTER UPDATE ON register.person_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_overlap('legal_unit_id,person_id,person_role_id', 'establishment_id,person_id,person_role_id');
CREATE TRIGGER guard_2_overlap_update AFTER UPDATE ON register.power_root REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_overlap('power_group_id');
CREATE TRIGGER guard_2_overlap_update AFTER UPDATE ON register.stat_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_overlap('legal_unit_id,stat_definition_id', 'establishment_id,stat_definition_id');
CREATE TRIGGER guard_3_primary_insert AFTER INSERT ON register.establishment REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_primary('primary_for_legal_unit', 'legal_unit_id', 'primary_for_enterprise', 'enterprise_id');
CREATE TRIGGER guard_3_primary_insert AFTER INSERT ON register.legal_relationship REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_primary('primary_influencer_only', 'influenced_id');
CREATE TRIGGER guard_3_primary_insert AFTER INSERT ON register.legal_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_primary('primary_for_enterprise', 'enterprise_id');
CREATE TRIGGER guard_3_primary_update AFTER UPDATE ON register.establishment REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_primary('primary_for_legal_unit', 'legal_unit_id', 'primary_for_enterprise', 'enterprise_id');
CREATE TRIGGER guard_3_primary_update AFTER UPDATE ON register.legal_relationship REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_primary('primary_influencer_only', 'influenced_id');
CREATE TRIGGER guard_3_primary_update AFTER UPDATE ON register.legal_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_primary('primary_for_enterprise', 'enterprise_id');
CREATE TRIGGER guard_4_codes_insert AFTER INSERT ON register.activity REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_codes('category_id', 'activity_category', 'data_source_id', 'data_source');
CREATE TRIGGER guard_4_codes_insert AFTER INSERT ON register.contact REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_codes('data_source_id', 'data_source');
CREATE TRIGGER guard_4_codes_insert AFTER INSERT ON register.establishment REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_codes('sector_id', 'sector', 'status_id', 'status', 'unit_size_id', 'unit_size', 'data_source_id', 'data_source', 'foreign_participation_id', 'foreign_participation', 'image_id', 'image');
CREATE TRIGGER guard_4_codes_insert AFTER INSERT ON register.external_ident REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_codes('type_id', 'external_ident_type');
CREATE TRIGGER guard_4_codes_insert AFTER INSERT ON register.legal_relationship REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_codes('type_id', 'legal_rel_type', 'data_source_id', 'data_source');
CREATE TRIGGER guard_4_codes_insert AFTER INSERT ON register.legal_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_codes('sector_id', 'sector', 'status_id', 'status', 'legal_form_id', 'legal_form', 'unit_size_id', 'unit_size', 'data_source_id', 'data_source', 'foreign_participation_id', 'foreign_participation', 'image_id', 'image');
CREATE TRIGGER guard_4_codes_insert AFTER INSERT ON register.location REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_codes('region_id', 'region', 'country_id', 'country', 'data_source_id', 'data_source');
CREATE TRIGGER guard_4_codes_insert AFTER INSERT ON register.person_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_codes('person_role_id', 'person_role', 'data_source_id', 'data_source');
CREATE TRIGGER guard_4_codes_insert AFTER INSERT ON register.power_group REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_codes('type_id', 'power_group_type');
CREATE TRIGGER guard_4_codes_insert AFTER INSERT ON register.stat_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_codes('stat_definition_id', 'stat_definition', 'data_source_id', 'data_source');
CREATE TRIGGER guard_4_codes_insert AFTER INSERT ON register.tag_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_codes('tag_id', 'tag');
CREATE TRIGGER guard_4_codes_update AFTER UPDATE ON register.activity REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_codes('category_id', 'activity_category', 'data_source_id', 'data_source');
CREATE TRIGGER guard_4_codes_update AFTER UPDATE ON register.contact REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_codes('data_source_id', 'data_source');
CREATE TRIGGER guard_4_codes_update AFTER UPDATE ON register.establishment REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_codes('sector_id', 'sector', 'status_id', 'status', 'unit_size_id', 'unit_size', 'data_source_id', 'data_source', 'foreign_participation_id', 'foreign_participation', 'image_id', 'image');
CREATE TRIGGER guard_4_codes_update AFTER UPDATE ON register.external_ident REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_codes('type_id', 'external_ident_type');
CREATE TRIGGER guard_4_codes_update AFTER UPDATE ON register.legal_relationship REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_codes('type_id', 'legal_rel_type', 'data_source_id', 'data_source');
CREATE TRIGGER guard_4_codes_update AFTER UPDATE ON register.legal_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_codes('sector_id', 'sector', 'status_id', 'status', 'legal_form_id', 'legal_form', 'unit_size_id', 'unit_size', 'data_source_id', 'data_source', 'foreign_participation_id', 'foreign_participation', 'image_id', 'image');
CREATE TRIGGER guard_4_codes_update AFTER UPDATE ON register.location REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_codes('region_id', 'region', 'country_id', 'country', 'data_source_id', 'data_source');
CREATE TRIGGER guard_4_codes_update AFTER UPDATE ON register.person_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_codes('person_role_id', 'person_role', 'data_source_id', 'data_source');
CREATE TRIGGER guard_4_codes_update AFTER UPDATE ON register.power_group REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_codes('type_id', 'power_group_type');
CREATE TRIGGER guard_4_codes_update AFTER UPDATE ON register.stat_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_codes('stat_definition_id', 'stat_definition', 'data_source_id', 'data_source');
CREATE TRIGGER guard_4_codes_update AFTER UPDATE ON register.tag_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_codes('tag_id', 'tag');
CREATE TRIGGER guard_4_owner_insert AFTER INSERT ON register.power_root REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_owner('derived_root_legal_unit_id', 'legal_unit', 'custom_root_legal_unit_id', 'legal_unit');
CREATE TRIGGER guard_4_owner_update AFTER UPDATE ON register.power_root REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_owner('derived_root_legal_unit_id', 'legal_unit', 'custom_root_legal_unit_id', 'legal_unit');
CREATE TRIGGER guard_4_statistic_insert AFTER INSERT ON register.stat_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_statistic();
CREATE TRIGGER guard_4_statistic_update AFTER UPDATE ON register.stat_for_unit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_statistic();
CREATE TRIGGER guard_5_children_delete AFTER DELETE ON register.establishment REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_children('activity', 'establishment_id', 'location', 'establishment_id', 'contact', 'establishment_id', 'stat_for_unit', 'establishment_id', 'person_for_unit', 'establishment_id', 'external_ident', 'establishment_id', 'tag_for_unit', 'establishment_id', 'unit_notes', 'establishment_id');
CREATE TRIGGER guard_5_children_delete AFTER DELETE ON register.legal_unit REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_children('establishment', 'legal_unit_id', 'activity', 'legal_unit_id', 'location', 'legal_unit_id', 'contact', 'legal_unit_id', 'stat_for_unit', 'legal_unit_id', 'person_for_unit', 'legal_unit_id', 'external_ident', 'legal_unit_id', 'tag_for_unit', 'legal_unit_id', 'unit_notes', 'legal_unit_id', 'legal_relationship', 'influencing_id', 'legal_relationship', 'influenced_id');
CREATE TRIGGER guard_5_children_update AFTER UPDATE ON register.establishment REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_children('activity', 'establishment_id', 'location', 'establishment_id', 'contact', 'establishment_id', 'stat_for_unit', 'establishment_id', 'person_for_unit', 'establishment_id', 'external_ident', 'establishment_id', 'tag_for_unit', 'establishment_id', 'unit_notes', 'establishment_id');
CREATE TRIGGER guard_5_children_update AFTER UPDATE ON register.legal_unit REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_children('establishment', 'legal_unit_id', 'activity', 'legal_unit_id', 'location', 'legal_unit_id', 'contact', 'legal_unit_id', 'stat_for_unit', 'legal_unit_id', 'person_for_unit', 'legal_unit_id', 'external_ident', 'legal_unit_id', 'tag_for_unit', 'legal_unit_id', 'unit_notes', 'legal_unit_id', 'legal_relationship', 'influencing_id', 'legal_relationship', 'influenced_id');
CREATE TRIGGER guard_5_ident_insert AFTER INSERT ON register.external_ident REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_ident();
CREATE TRIGGER guard_5_ident_update AFTER UPDATE ON register.external_ident REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_ident();
CREATE TRIGGER guard_5_region_insert AFTER INSERT ON register.location REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_region();
CREATE TRIGGER guard_5_region_update AFTER UPDATE ON register.location REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_region();
CREATE TRIGGER guard_5_root_insert AFTER INSERT ON register.power_root REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_root();
CREATE TRIGGER guard_5_root_update AFTER UPDATE ON register.power_root REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.guard_root();
CREATE TRIGGER guard_column AFTER INSERT OR UPDATE OF code, enabled ON register.external_ident_type FOR EACH ROW WHEN (new.enabled) EXECUTE FUNCTION register.guard_column();
CREATE TRIGGER guard_column AFTER INSERT OR UPDATE OF code, enabled ON register.stat_definition FOR EACH ROW WHEN (new.enabled) EXECUTE FUNCTION register.guard_column();
CREATE TRIGGER refuse_delete BEFORE DELETE ON register.activity_category FOR EACH ROW EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_delete BEFORE DELETE ON register.activity_category_standard FOR EACH ROW EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_delete BEFORE DELETE ON register.country FOR EACH ROW EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_delete BEFORE DELETE ON register.data_source FOR EACH ROW EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_delete BEFORE DELETE ON register.external_ident_type FOR EACH ROW EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_delete BEFORE DELETE ON register.foreign_participation FOR EACH ROW EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_delete BEFORE DELETE ON register.image FOR EACH ROW EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_delete BEFORE DELETE ON register.legal_form FOR EACH ROW EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_delete BEFORE DELETE ON register.legal_rel_type FOR EACH ROW EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_delete BEFORE DELETE ON register.person_role FOR EACH ROW EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_delete BEFORE DELETE ON register.power_group_type FOR EACH ROW EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_delete BEFORE DELETE ON register.region FOR EACH ROW EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_delete BEFORE DELETE ON register.region_version FOR EACH ROW EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_delete BEFORE DELETE ON register.sector FOR EACH ROW EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_delete BEFORE DELETE ON register.stat_definition FOR EACH ROW EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_delete BEFORE DELETE ON register.status FOR EACH ROW EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_delete BEFORE DELETE ON register.tag FOR EACH ROW EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_delete BEFORE DELETE ON register.unit_size FOR EACH ROW EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_delete_in_use AFTER DELETE ON register.enterprise REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_delete_in_use('legal_unit', 'enterprise_id', 'establishment', 'enterprise_id', 'external_ident', 'enterprise_id', 'tag_for_unit', 'enterprise_id', 'unit_notes', 'enterprise_id');
CREATE TRIGGER refuse_delete_in_use AFTER DELETE ON register.person REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_delete_in_use('person_for_unit', 'person_id', 'external_ident', 'person_id');
CREATE TRIGGER refuse_delete_in_use AFTER DELETE ON register.power_group REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_delete_in_use('legal_relationship', 'derived_power_group_id', 'power_root', 'power_group_id', 'external_ident', 'power_group_id', 'tag_for_unit', 'power_group_id', 'unit_notes', 'power_group_id');
CREATE TRIGGER refuse_id_change BEFORE UPDATE OF id ON register.activity_category FOR EACH ROW WHEN ((old.id <> new.id)) EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_id_change BEFORE UPDATE OF id ON register.activity_category_standard FOR EACH ROW WHEN ((old.id <> new.id)) EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_id_change BEFORE UPDATE OF id ON register.country FOR EACH ROW WHEN ((old.id <> new.id)) EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_id_change BEFORE UPDATE OF id ON register.data_source FOR EACH ROW WHEN ((old.id <> new.id)) EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_id_change BEFORE UPDATE OF id ON register.enterprise FOR EACH ROW WHEN ((old.id <> new.id)) EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_id_change BEFORE UPDATE OF id ON register.external_ident_type FOR EACH ROW WHEN ((old.id <> new.id)) EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_id_change BEFORE UPDATE OF id ON register.foreign_participation FOR EACH ROW WHEN ((old.id <> new.id)) EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_id_change BEFORE UPDATE OF id ON register.image FOR EACH ROW WHEN ((old.id <> new.id)) EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_id_change BEFORE UPDATE OF id ON register.legal_form FOR EACH ROW WHEN ((old.id <> new.id)) EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_id_change BEFORE UPDATE OF id ON register.legal_rel_type FOR EACH ROW WHEN ((old.id <> new.id)) EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_id_change BEFORE UPDATE OF id ON register.person FOR EACH ROW WHEN ((old.id <> new.id)) EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_id_change BEFORE UPDATE OF id ON register.person_role FOR EACH ROW WHEN ((old.id <> new.id)) EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_id_change BEFORE UPDATE OF id ON register.power_group FOR EACH ROW WHEN ((old.id <> new.id)) EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_id_change BEFORE UPDATE OF id ON register.power_group_type FOR EACH ROW WHEN ((old.id <> new.id)) EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_id_change BEFORE UPDATE OF id ON register.region FOR EACH ROW WHEN ((old.id <> new.id)) EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_id_change BEFORE UPDATE OF id ON register.region_version FOR EACH ROW WHEN ((old.id <> new.id)) EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_id_change BEFORE UPDATE OF id ON register.sector FOR EACH ROW WHEN ((old.id <> new.id)) EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_id_change BEFORE UPDATE OF id ON register.stat_definition FOR EACH ROW WHEN ((old.id <> new.id)) EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_id_change BEFORE UPDATE OF id ON register.status FOR EACH ROW WHEN ((old.id <> new.id)) EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_id_change BEFORE UPDATE OF id ON register.tag FOR EACH ROW WHEN ((old.id <> new.id)) EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_id_change BEFORE UPDATE OF id ON register.unit_size FOR EACH ROW WHEN ((old.id <> new.id)) EXECUTE FUNCTION register.refuse_code_change();
CREATE TRIGGER refuse_influence_change BEFORE UPDATE OF primary_influencer_only ON register.legal_rel_type FOR EACH ROW WHEN ((old.primary_influencer_only <> new.primary_influencer_only)) EXECUTE FUNCTION register.refuse_code_change('primary_influencer_only');
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.activity FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.activity_category FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.activity_category_standard FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.contact FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.country FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.data_source FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.enterprise FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.establishment FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.external_ident FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.external_ident_type FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.foreign_participation FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.image FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.legal_form FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.legal_rel_type FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.legal_relationship FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.legal_unit FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.location FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.person_for_unit FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.person_role FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.power_group FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.power_group_type FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.power_root FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.region FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.region_version FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.sector FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.stat_definition FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.stat_for_unit FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.status FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.tag FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.tag_for_unit FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON register.unit_size FOR EACH STATEMENT EXECUTE FUNCTION register.refuse_truncate();
CREATE TRIGGER refuse_type_change BEFORE UPDATE OF type ON register.stat_definition FOR EACH ROW WHEN ((old.type <> new.type)) EXECUTE FUNCTION register.refuse_code_change('type');
CREATE CONSTRAINT TRIGGER request_collect AFTER INSERT ON register.base_change_log DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.round_id IS NULL)) EXECUTE FUNCTION register.request_collect();
ALTER TABLE ONLY register.activity_category
    ADD CONSTRAINT activity_category_standard_id_fkey FOREIGN KEY (standard_id) REFERENCES register.activity_category_standard(id);
ALTER TABLE ONLY register.import_job
    ADD CONSTRAINT import_job_definition_id_fkey FOREIGN KEY (definition_id) REFERENCES register.import_definition(id) ON DELETE SET NULL;
ALTER TABLE ONLY register.import_mapping
    ADD CONSTRAINT import_mapping_definition_id_fkey FOREIGN KEY (definition_id) REFERENCES register.import_definition(id) ON DELETE CASCADE;
ALTER TABLE ONLY register.import_source_column
    ADD CONSTRAINT import_source_column_definition_id_fkey FOREIGN KEY (definition_id) REFERENCES register.import_definition(id) ON DELETE CASCADE;
ALTER TABLE ONLY register.region
    ADD CONSTRAINT region_version_id_fkey FOREIGN KEY (version_id) REFERENCES register.region_version(id);
ALTER TABLE ONLY register.settings
    ADD CONSTRAINT settings_activity_category_standard_id_fkey FOREIGN KEY (activity_category_standard_id) REFERENCES register.activity_category_standard(id);
ALTER TABLE ONLY register.settings
    ADD CONSTRAINT settings_country_id_fkey FOREIGN KEY (country_id) REFERENCES register.country(id);
ALTER TABLE ONLY register.settings
    ADD CONSTRAINT settings_region_version_id_fkey FOREIGN KEY (region_version_id) REFERENCES register.region_version(id);
GRANT USAGE ON SCHEMA register TO register_read;
GRANT USAGE ON SCHEMA register TO register_edit;
GRANT USAGE ON SCHEMA register TO catchment_worker;
REVOKE ALL ON FUNCTION register.activity_code(p_path text, p_pattern text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.activity_key(p_code text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.activity_name(p_path text) FROM PUBLIC;
GRANT ALL ON FUNCTION register.activity_name(p_path text) TO register_read;
REVOKE ALL ON FUNCTION register.activity_path(p_digits text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.add_activities(p_standard_id integer, p_codes text[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.add_counts(p_one jsonb, p_two jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.add_measures(p_one register.measures, p_two register.measures) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.add_moment(p_one register.moment, p_two register.moment) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.add_moments(p_one register.moment[], p_two register.moment[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.address_times(p_job_id integer, p_batch_seq integer, p_mode text, p_is_asked boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.amend_history(p_round_id bigint, p_report text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.amend_unit_facet(p_round_id bigint, p_is_one_flush boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.analyse_relationships(p_job_id integer, p_batch_seq integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.analyse_units(p_job_id integer, p_batch_seq integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.assign_power_groups(p_legal_unit_ids int4multirange, p_power_group_ids int4multirange) FROM PUBLIC;
GRANT SELECT ON TABLE register.statistical_unit_row TO register_read;
REVOKE ALL ON FUNCTION register.batch_rows(p_with_own boolean, p_is_all boolean, p_establishment_ids int4multirange, p_legal_unit_ids int4multirange, p_enterprise_ids int4multirange, p_power_group_ids int4multirange) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.batch_rows_text() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.begin_fill(p_round_id bigint, p_report text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.begin_reports(p_round_id bigint) FROM PUBLIC;
GRANT SELECT ON TABLE register.round TO register_read;
REVOKE ALL ON FUNCTION register.begin_stage(p_payload jsonb, p_stage text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.build_index(p_index text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.build_missing_indexes(p_report text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.calendar_day(p_year integer, p_month integer, p_day integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.capture_enterprise() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.capture_establishment() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.capture_legal_unit() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.capture_named() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.capture_owned() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.capture_path() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.capture_power_group() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.capture_power_root() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.capture_relationship() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.capture_status() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.check_base() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.check_changes(p_unit_type text, p_unit_id integer, p_changes jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.check_derivation() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.check_power_groups() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.check_register(p_deep boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION register.check_register(p_deep boolean) TO register_read;
REVOKE ALL ON FUNCTION register.check_reports() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.check_rounds() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.check_units() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.choose_power_roots() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.choose_primary(p_job_id integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.clear_staging(p_round_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.close_moments() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.close_round(p_round_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.closed_groups(p_enterprise_ids integer[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.code_id(p_kind text, p_text text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.coded_rows(p_job_id integer, p_first integer, p_last integer, p_rows integer[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.collect_cells(p_round_id bigint, p_report text, p_partition_seq integer, p_slots int4multirange) FROM PUBLIC;
REVOKE ALL ON PROCEDURE register.collect_changes(IN payload jsonb, INOUT info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE register.collect_changes(IN payload jsonb, INOUT info jsonb) TO catchment_worker;
REVOKE ALL ON FUNCTION register.collect_facet_cells(p_round_id bigint, p_partition_seq integer, p_source text, p_from_flush bigint, p_to_flush bigint, p_slots int4multirange) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.collect_history_cells(p_round_id bigint, p_partition_seq integer, p_source text, p_from_flush bigint, p_to_flush bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.column_problem(p_table text, p_code text) FROM PUBLIC;
GRANT ALL ON FUNCTION register.column_problem(p_table text, p_code text) TO register_edit;
REVOKE ALL ON FUNCTION register.conclude_analysis(p_job_id integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.connect_legal_unit(p_legal_unit_id integer, p_enterprise_id integer, p_valid_from date, p_valid_until date, p_comment text) FROM PUBLIC;
GRANT ALL ON FUNCTION register.connect_legal_unit(p_legal_unit_id integer, p_enterprise_id integer, p_valid_from date, p_valid_until date, p_comment text) TO register_edit;
REVOKE ALL ON FUNCTION register.coordinate_problem(p_kind text, p_text text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.copy_primary_influencer() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.count_effective(p_unit_type text, p_round register.round) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.count_ids(p_ids int4multirange) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.count_staged(p_round_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.count_used(p_flush_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.create_import_job(p_definition text, p_slug text, p_valid_from date, p_valid_until date, p_review boolean, p_headers jsonb, p_mapping jsonb, p_strategy text, p_note text) FROM PUBLIC;
GRANT ALL ON FUNCTION register.create_import_job(p_definition text, p_slug text, p_valid_from date, p_valid_until date, p_review boolean, p_headers jsonb, p_mapping jsonb, p_strategy text, p_note text) TO register_edit;
REVOKE ALL ON FUNCTION register.cut_details(p_owner text, p_ids integer[], p_valid_from date, p_valid_until date) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.cut_slices(p_table text, p_owner text, p_ids integer[], p_valid_from date, p_valid_until date, p_filter jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.dated_rows(p_job_id integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.delete_empty_groups(p_power_group_ids integer[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.delete_import_job(p_job_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION register.delete_import_job(p_job_id integer) TO register_edit;
REVOKE ALL ON FUNCTION register.delete_unit(p_unit_type text, p_unit_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION register.delete_unit(p_unit_type text, p_unit_id integer) TO register_edit;
REVOKE ALL ON FUNCTION register.demote_establishments(p_args jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.derive_now(p_scope text) FROM PUBLIC;
REVOKE ALL ON PROCEDURE register.derive_reports(IN payload jsonb, INOUT info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE register.derive_reports(IN payload jsonb, INOUT info jsonb) TO catchment_worker;
REVOKE ALL ON PROCEDURE register.derive_statistical_history(IN payload jsonb, INOUT info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE register.derive_statistical_history(IN payload jsonb, INOUT info jsonb) TO catchment_worker;
REVOKE ALL ON PROCEDURE register.derive_statistical_history_facet(IN payload jsonb, INOUT info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE register.derive_statistical_history_facet(IN payload jsonb, INOUT info jsonb) TO catchment_worker;
REVOKE ALL ON PROCEDURE register.derive_statistical_history_facet_period(IN payload jsonb, INOUT info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE register.derive_statistical_history_facet_period(IN payload jsonb, INOUT info jsonb) TO catchment_worker;
REVOKE ALL ON PROCEDURE register.derive_statistical_history_period(IN payload jsonb, INOUT info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE register.derive_statistical_history_period(IN payload jsonb, INOUT info jsonb) TO catchment_worker;
REVOKE ALL ON PROCEDURE register.derive_statistical_unit(IN payload jsonb, INOUT info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE register.derive_statistical_unit(IN payload jsonb, INOUT info jsonb) TO catchment_worker;
REVOKE ALL ON PROCEDURE register.derive_statistical_unit_continue(IN payload jsonb, INOUT info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE register.derive_statistical_unit_continue(IN payload jsonb, INOUT info jsonb) TO catchment_worker;
REVOKE ALL ON PROCEDURE register.derive_statistical_unit_facet(IN payload jsonb, INOUT info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE register.derive_statistical_unit_facet(IN payload jsonb, INOUT info jsonb) TO catchment_worker;
REVOKE ALL ON PROCEDURE register.derive_statistical_unit_facet_partition(IN payload jsonb, INOUT info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE register.derive_statistical_unit_facet_partition(IN payload jsonb, INOUT info jsonb) TO catchment_worker;
REVOKE ALL ON FUNCTION register.detail_times(p_table text, p_owner text, p_unit_id integer, p_type text, p_clears text[], p_valid_from date, p_valid_until date) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.drop_doubles(p_round_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.drop_empty_enterprises(p_ids integer[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.drop_fill(p_round_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.drop_names(p_owner text, p_ids integer[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.edit_columns() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.edit_heading(p_unit_type text, p_unit_id integer, p_changes jsonb, p_comment text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.edit_names(p_owner text, p_unit_id integer, p_changes jsonb, p_comment text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.edit_slices(p_unit_type text, p_unit_id integer, p_table text, p_type text, p_changes jsonb, p_clears text[], p_valid_from date, p_valid_until date, p_comment text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.edit_statistics(p_unit_type text, p_unit_id integer, p_changes jsonb, p_valid_from date, p_valid_until date, p_comment text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.edit_unit(p_unit_type text, p_unit_id integer, p_changes jsonb, p_valid_from date, p_valid_until date, p_comment text) FROM PUBLIC;
GRANT ALL ON FUNCTION register.edit_unit(p_unit_type text, p_unit_id integer, p_changes jsonb, p_valid_from date, p_valid_until date, p_comment text) TO register_edit;
REVOKE ALL ON FUNCTION register.edit_value(p_word text, p_kind text, p_text text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.effective_units(p_round_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.empty_report_work() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.empty_staging(p_round_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.empty_table(p_table regclass) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.end_fill(p_report text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.end_unit(p_unit_type text, p_unit_id integer, p_date date) FROM PUBLIC;
GRANT ALL ON FUNCTION register.end_unit(p_unit_type text, p_unit_id integer, p_date date) TO register_edit;
REVOKE ALL ON FUNCTION register.ensure_activities(p_job_id integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.enter_stage(p_payload jsonb, p_stage text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.enterprise_rows(p_enterprise_ids integer[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.explain(p_of text) FROM PUBLIC;
GRANT ALL ON FUNCTION register.explain(p_of text) TO register_read;
REVOKE ALL ON FUNCTION register.explain_collection() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.explain_current(p_of register.subject, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.explain_failure(p_is_blocking boolean, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.explain_imports() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.explain_reports(p_of register.subject, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.explain_round(p_of register.subject, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.explain_task(p_task_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.explain_waiting(p_of register.subject, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.facet_slot(p_unit_type text, p_primary_activity_category_id integer, p_secondary_activity_category_id integer, p_sector_id integer, p_legal_form_id integer, p_physical_region_id integer, p_physical_country_id integer, p_unit_size_id integer, p_status_id integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.fail_families(p_job_id integer, p_batch_seq integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.fill_extremes() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.fill_history_facet(p_round_id bigint, p_is_rebuild boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.fill_indexes(p_report text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.fill_primaries(p_table text, p_args jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.fill_unit_facet() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.fill_units(p_round register.round) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.find_all_bridges() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.find_differences(p_round register.round) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.find_subject(p_of text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.find_unit(p_text text, OUT unit_type text, OUT unit_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION register.find_unit(p_text text, OUT unit_type text, OUT unit_id integer) TO register_read;
REVOKE ALL ON FUNCTION register.finish_import(p_job_id integer) FROM PUBLIC;
REVOKE ALL ON PROCEDURE register.finish_statistical_history(IN payload jsonb, INOUT info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE register.finish_statistical_history(IN payload jsonb, INOUT info jsonb) TO catchment_worker;
REVOKE ALL ON PROCEDURE register.finish_statistical_history_facet(IN payload jsonb, INOUT info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE register.finish_statistical_history_facet(IN payload jsonb, INOUT info jsonb) TO catchment_worker;
REVOKE ALL ON PROCEDURE register.finish_statistical_unit_flush_staging(IN payload jsonb, INOUT info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE register.finish_statistical_unit_flush_staging(IN payload jsonb, INOUT info jsonb) TO catchment_worker;
REVOKE ALL ON FUNCTION register.finish_upload(p_job_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION register.finish_upload(p_job_id integer) TO register_edit;
REVOKE ALL ON FUNCTION register.follow_bridges(p_enterprise_ids integer[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.follow_primaries(p_job_id integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.found_enterprises(p_args jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.give_back(p_round_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.give_way() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.guard_children() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.guard_codes() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.guard_column() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.guard_ident() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.guard_overlap() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.guard_owner() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.guard_parent() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.guard_primary() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.guard_region() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.guard_root() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.guard_statistic() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.has_scratch(VARIADIC p_tables text[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.history_facet_key(p_unit_type text, p_primary_activity_category_path text, p_secondary_activity_category_path text, p_sector_path text, p_legal_form_id integer, p_physical_region_path text, p_physical_country_id integer, p_unit_size_id integer, p_status_id integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.history_facts(p_round_id bigint, p_report text, p_is_lookup boolean, p_periods register.period[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.history_name(p_report text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.history_sums(p_round_id bigint, p_report text, p_periods register.period[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.id_array(p_ids int4multirange) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.id_ranges(p_ids integer[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.ident_columns(p_job_id integer, p_prefix text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.ident_problem(p_codes text[], p_idents text[], p_message text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.ident_rows(p_job_id integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.ident_type_ids(p_job_id integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.import_analyse_batch(p_job_id integer, p_batch_seq integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.import_bisect(p_job_id integer, p_batch_seq integer, p_first integer, p_last integer) FROM PUBLIC;
REVOKE ALL ON PROCEDURE register.import_job_cleanup(IN payload jsonb, INOUT info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE register.import_job_cleanup(IN payload jsonb, INOUT info jsonb) TO catchment_worker;
REVOKE ALL ON PROCEDURE register.import_job_process(IN payload jsonb, INOUT info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE register.import_job_process(IN payload jsonb, INOUT info jsonb) TO catchment_worker;
REVOKE ALL ON FUNCTION register.import_prepare(p_job_id integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.import_process_batch(p_job_id integer, p_batch_seq integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.import_process_rows(p_job_id integer, p_batch_seq integer, p_first integer, p_last integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.import_progress() FROM PUBLIC;
GRANT ALL ON FUNCTION register.import_progress() TO register_read;
GRANT ALL ON FUNCTION register.import_progress() TO catchment_worker;
REVOKE ALL ON PROCEDURE register.import_settled(IN payload jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE register.import_settled(IN payload jsonb) TO catchment_worker;
REVOKE ALL ON PROCEDURE register.import_started(IN payload jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE register.import_started(IN payload jsonb) TO catchment_worker;
REVOKE ALL ON FUNCTION register.input_keys(p_problems jsonb, p_columns jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.is_capture_paused() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.is_deriving_reports() FROM PUBLIC;
GRANT ALL ON FUNCTION register.is_deriving_reports() TO register_read;
REVOKE ALL ON FUNCTION register.is_deriving_statistical_units() FROM PUBLIC;
GRANT ALL ON FUNCTION register.is_deriving_statistical_units() TO register_read;
REVOKE ALL ON FUNCTION register.is_filled_by(p_round_id bigint, p_report text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.is_importing() FROM PUBLIC;
GRANT ALL ON FUNCTION register.is_importing() TO register_read;
GRANT ALL ON FUNCTION register.is_importing() TO catchment_worker;
REVOKE ALL ON FUNCTION register.is_most(p_establishment_ids int4multirange, p_legal_unit_ids int4multirange) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.is_one_flush(p_after bigint, p_to bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.is_path(p_text text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.is_served(p_queue text) FROM PUBLIC;
GRANT ALL ON FUNCTION register.is_served(p_queue text) TO register_read;
GRANT ALL ON FUNCTION register.is_served(p_queue text) TO catchment_worker;
REVOKE ALL ON FUNCTION register.is_shown(p_report text) FROM PUBLIC;
GRANT ALL ON FUNCTION register.is_shown(p_report text) TO register_read;
REVOKE ALL ON FUNCTION register.is_unsettled(p_state text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.is_worth_rebuild(p_changed bigint, p_staged bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.is_zero(p_measures register.measures) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.last_failure() FROM PUBLIC;
GRANT ALL ON FUNCTION register.last_failure() TO register_read;
REVOKE ALL ON FUNCTION register.legal_unit_rows() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.legal_units_of(p_enterprise_ids integer[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.length_problem(p_text text, p_most integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.lift() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.link_relationships(p_job_id integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.link_units(p_job_id integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.load_batch(p_enterprise_ids integer[], p_legal_unit_ids integer[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.load_groups(p_power_group_ids integer[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.location_country(p_owner text, p_unit_id integer, p_type text, p_at date) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.lock_units(p_legal_unit_ids integer[], p_establishment_ids integer[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.log_change(p_establishment_ids int4multirange, p_legal_unit_ids int4multirange, p_enterprise_ids int4multirange, p_power_group_ids int4multirange, p_relationship_legal_unit_ids int4multirange, p_valid_ranges datemultirange, p_rebuilds_reports boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.log_missed(p_round register.round) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.look_up_history_extremes(p_round_id bigint, p_report text, p_batch_seq integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.look_up_unit_facet_extremes(p_round_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.merge_counts(p_old jsonb, p_added jsonb, p_removed jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.merge_history(p_round_id bigint, p_report text, p_batch_seq integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.merge_moments(p_is_part boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.merge_parts(p_unit_type text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.merge_text(p_table text, p_owner text, p_mode text, p_source text, p_keeps text[], p_clears text[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.merged_value(p_column text, p_mode text, p_keeps boolean, p_clears boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.name_components() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.name_query(p_text text) FROM PUBLIC;
GRANT ALL ON FUNCTION register.name_query(p_text text) TO register_read;
REVOKE ALL ON FUNCTION register.name_words(p_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION register.name_words(p_name text) TO register_read;
REVOKE ALL ON FUNCTION register.named_periods(p_names text[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.needs_round() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.note_differences(p_round_id bigint, p_flush_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.note_left_owners(p_args jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.note_orphans(p_round register.round) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.note_published(p_round_id bigint, p_report text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.notify_import(p_job_id integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.notify_progress() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.notify_status() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.open_report_scratch() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.open_round(p_kind text, p_establishment_ids int4multirange, p_legal_unit_ids int4multirange, p_enterprise_ids int4multirange, p_power_group_ids int4multirange) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.open_scratch() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.open_tasks(p_commands text[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.owes_all() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.own_rows() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.parse_date(p_text text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.parse_number(p_text text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.parse_stat(p_type text, p_text text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.parts_of_parts(p_unit_type text, p_counting boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.patch_slices(p_table text, p_owner text, p_rows jsonb, p_changes jsonb, p_by text, p_comment text, p_clears text[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.pause_capture() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.period_problem(p_snapshot jsonb, p_message text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.periods(p_from date, p_to date) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.periods_to_refresh(p_round_id bigint, p_report text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.phase_commands(p_phase text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.pipeline_progress() FROM PUBLIC;
GRANT ALL ON FUNCTION register.pipeline_progress() TO register_read;
REVOKE ALL ON FUNCTION register.plain_moments(p_moments register.moment[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.plan_batches(p_round_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.plan_partitions(p_round_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.plan_periods(p_round_id bigint, p_report text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.power_group_rows(p_power_group_ids integer[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.power_ident(p_id integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.primary_candidates(p_table text, p_flag text, p_owner_id integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.process_details(p_owner text, p_mode text, p_args jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.process_establishments(p_mode text, p_args jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.process_idents(p_owner text, p_args jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.process_legal_units(p_mode text, p_args jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.process_relationships(p_mode text, p_args jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.process_statistics(p_owner text, p_column text, p_mode text, p_args jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.process_tags(p_owner text, p_args jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.promote_establishments(p_job_id integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.publish_first(p_round_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.publish_history(p_round_id bigint, p_report text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.publish_unit_facet(p_round_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.publish_units(p_round_id bigint, p_is_settled boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.reach_relationships(p_legal_unit_ids int4multirange) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.recount_used() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.recover_rounds() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.refresh_batch(p_round_id bigint, p_batch_seq integer, p_enterprise_ids int4multirange, p_power_group_ids int4multirange) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.refusal_text(p_constraint text, p_column text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.refuse_code_change() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.refuse_delete_in_use() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.refuse_edit(p_message text, p_hint text, p_code text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.refuse_truncate() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.region_problem(p_region text, p_country text, p_country_id integer, p_home_id integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.relate(p_influencing_id integer, p_influenced_id integer, p_type text, p_percentage numeric, p_valid_from date, p_valid_until date, p_comment text) FROM PUBLIC;
GRANT ALL ON FUNCTION register.relate(p_influencing_id integer, p_influenced_id integer, p_type text, p_percentage numeric, p_valid_from date, p_valid_until date, p_comment text) TO register_edit;
REVOKE ALL ON FUNCTION register.remaining_primaries(p_unit_type text, p_unit_id integer, p_times datemultirange, p_enterprise_id integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.replace_history(p_round_id bigint, p_report text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.replace_unit_facet() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.replace_units(p_round_id bigint, OUT deleted bigint, OUT inserted bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.report_now(p_round_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.report_scope(p_round_id bigint, p_report text, OUT is_rebuild boolean, OUT from_flush bigint, OUT to_flush bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.report_through(p_today date) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.reports_are_behind() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.reports_need_rebuild() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.request_collect() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.require_mark(p_round_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.require_period(p_valid_from date, p_valid_until date) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.require_read_committed() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.resolve_review(p_job_id integer, p_approves boolean, p_by text) FROM PUBLIC;
GRANT ALL ON FUNCTION register.resolve_review(p_job_id integer, p_approves boolean, p_by text) TO register_edit;
REVOKE ALL ON FUNCTION register.resume_capture(p_is_mine boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.retry_import_job(p_job_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION register.retry_import_job(p_job_id integer) TO register_edit;
REVOKE ALL ON PROCEDURE register.round_settled(IN payload jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE register.round_settled(IN payload jsonb) TO catchment_worker;
REVOKE ALL ON PROCEDURE register.round_started(IN payload jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE register.round_started(IN payload jsonb) TO catchment_worker;
REVOKE ALL ON FUNCTION register.row_differences(p_was text, p_now text, p_keys text[], p_most integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.row_list(p_rows integer[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.segment_own() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.set_primary(p_unit_type text, p_unit_id integer, p_valid_from date, p_valid_until date, p_comment text) FROM PUBLIC;
GRANT ALL ON FUNCTION register.set_primary(p_unit_type text, p_unit_id integer, p_valid_from date, p_valid_until date, p_comment text) TO register_edit;
REVOKE ALL ON FUNCTION register.slice_text(p_column text, p_id integer, p_valid_from date, p_valid_until date) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.spawn_batches(p_job_id integer, p_step text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.stage_batch(p_round register.round, p_batch_seq integer, p_with_own boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.stage_history(p_payload jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.stage_history_facet(p_payload jsonb) FROM PUBLIC;
GRANT SELECT ON TABLE register.statistical_unit_staging TO register_read;
REVOKE ALL ON FUNCTION register.staged_row(s register.statistical_unit_staging) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.starts_reports(p_payload jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.stated_values(p_job_id integer, p_first integer, p_last integer, p_rows integer[], p_definitions jsonb) FROM PUBLIC;
REVOKE ALL ON PROCEDURE register.statistical_unit_build_index(IN payload jsonb, INOUT info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE register.statistical_unit_build_index(IN payload jsonb, INOUT info jsonb) TO catchment_worker;
REVOKE ALL ON PROCEDURE register.statistical_unit_facet_reduce(IN payload jsonb, INOUT info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE register.statistical_unit_facet_reduce(IN payload jsonb, INOUT info jsonb) TO catchment_worker;
REVOKE ALL ON PROCEDURE register.statistical_unit_flush_staging(IN payload jsonb, INOUT info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE register.statistical_unit_flush_staging(IN payload jsonb, INOUT info jsonb) TO catchment_worker;
REVOKE ALL ON PROCEDURE register.statistical_unit_refresh_batch(IN payload jsonb, INOUT info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE register.statistical_unit_refresh_batch(IN payload jsonb, INOUT info jsonb) TO catchment_worker;
REVOKE ALL ON FUNCTION register.stats_summary(p_moments register.moment[], p_value_counts jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION register.stats_summary(p_moments register.moment[], p_value_counts jsonb) TO register_read;
REVOKE ALL ON FUNCTION register.sum_counts(p_old jsonb, p_added jsonb, p_removed jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.sum_moments() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.sum_unit_facets(p_round_id bigint, p_is_lookup boolean, p_after bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.take_alone(p_table regclass) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.take_changes(p_is_all boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.temporal_merge(p_table text, p_owner text, p_mode text, p_source text, p_args jsonb, p_keeps text[], p_clears text[], p_is_new boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.today() FROM PUBLIC;
GRANT ALL ON FUNCTION register.today() TO register_read;
GRANT ALL ON FUNCTION register.today() TO catchment_worker;
REVOKE ALL ON FUNCTION register.trimmed(p_changes jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.unit_cells(p_source text, p_from_flush bigint, p_to_flush bigint, p_slots int4multirange) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.unit_cover(p_job_id integer, p_batch_seq integer, p_mode text) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.unit_facet_drilldown(p_unit_type text, p_at date, p_physical_region_path text, p_primary_activity_category_path text, p_sector_path text, p_legal_form_id integer, p_physical_country_id integer, p_status_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION register.unit_facet_drilldown(p_unit_type text, p_at date, p_physical_region_path text, p_primary_activity_category_path text, p_sector_path text, p_legal_form_id integer, p_physical_country_id integer, p_status_id integer) TO register_read;
REVOKE ALL ON FUNCTION register.unit_facet_key(p_valid_from date, p_valid_until date, p_unit_type text, p_physical_region_path text, p_primary_activity_category_path text, p_sector_path text, p_legal_form_id integer, p_physical_country_id integer, p_status_id integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.unit_homes(p_mode text, p_ids integer[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.unit_idents(p_mode text, p_units integer[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.unit_times(p_unit_type text, p_unit_id integer, p_valid_from date, p_valid_until date) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.unknown_code(p_what text, p_code text, p_id integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.unrelate(p_influencing_id integer, p_influenced_id integer, p_type text, p_valid_from date, p_valid_until date) FROM PUBLIC;
GRANT ALL ON FUNCTION register.unrelate(p_influencing_id integer, p_influenced_id integer, p_type text, p_valid_from date, p_valid_until date) TO register_edit;
REVOKE ALL ON FUNCTION register.want_units() FROM PUBLIC;
REVOKE ALL ON FUNCTION register.warn_overlaps(p_job_id integer, p_batch_seq integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.total_counts(jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION register.total_moments(register.moment[]) FROM PUBLIC;
GRANT SELECT ON TABLE register.activity TO register_read;
GRANT INSERT,DELETE,UPDATE ON TABLE register.activity TO register_edit;
GRANT SELECT ON TABLE register.activity_category TO register_read;
GRANT INSERT,UPDATE ON TABLE register.activity_category TO register_edit;
GRANT SELECT ON TABLE register.activity_category_standard TO register_read;
GRANT INSERT,UPDATE ON TABLE register.activity_category_standard TO register_edit;
GRANT SELECT ON TABLE register.settings TO register_read;
GRANT UPDATE ON TABLE register.settings TO register_edit;
GRANT SELECT ON TABLE register.used_code TO register_read;
GRANT SELECT ON TABLE register.activity_category_used TO register_read;
GRANT SELECT ON TABLE register.base_change_log TO register_read;
GRANT SELECT ON TABLE register.capture_pause TO register_read;
GRANT SELECT ON TABLE register.country TO register_read;
GRANT INSERT,UPDATE ON TABLE register.country TO register_edit;
GRANT SELECT ON TABLE register.data_source TO register_read;
GRANT INSERT,UPDATE ON TABLE register.data_source TO register_edit;
GRANT SELECT ON TABLE register.external_ident_type TO register_read;
GRANT INSERT,UPDATE ON TABLE register.external_ident_type TO register_edit;
GRANT SELECT ON TABLE register.legal_form TO register_read;
GRANT INSERT,UPDATE ON TABLE register.legal_form TO register_edit;
GRANT SELECT ON TABLE register.legal_rel_type TO register_read;
GRANT INSERT,UPDATE ON TABLE register.legal_rel_type TO register_edit;
GRANT SELECT ON TABLE register.region TO register_read;
GRANT INSERT,UPDATE ON TABLE register.region TO register_edit;
GRANT SELECT ON TABLE register.sector TO register_read;
GRANT INSERT,UPDATE ON TABLE register.sector TO register_edit;
GRANT SELECT ON TABLE register.stat_definition TO register_read;
GRANT INSERT,UPDATE ON TABLE register.stat_definition TO register_edit;
GRANT SELECT ON TABLE register.status TO register_read;
GRANT INSERT,UPDATE ON TABLE register.status TO register_edit;
GRANT SELECT ON TABLE register.tag TO register_read;
GRANT INSERT,UPDATE ON TABLE register.tag TO register_edit;
GRANT SELECT ON TABLE register.unit_size TO register_read;
GRANT INSERT,UPDATE ON TABLE register.unit_size TO register_edit;
GRANT SELECT ON TABLE register.code_key TO register_read;
GRANT SELECT ON TABLE register.collect_request TO register_read;
GRANT SELECT ON TABLE register.contact TO register_read;
GRANT INSERT,DELETE,UPDATE ON TABLE register.contact TO register_edit;
GRANT SELECT ON TABLE register.country_used TO register_read;
GRANT SELECT ON TABLE register.data_source_used TO register_read;
GRANT SELECT ON TABLE register.enterprise TO register_read;
GRANT INSERT,DELETE,UPDATE ON TABLE register.enterprise TO register_edit;
GRANT SELECT ON TABLE register.establishment TO register_read;
GRANT INSERT,DELETE,UPDATE ON TABLE register.establishment TO register_edit;
GRANT USAGE ON SEQUENCE register.establishment_id_seq TO register_edit;
GRANT SELECT ON TABLE register.external_ident TO register_read;
GRANT INSERT,DELETE,UPDATE ON TABLE register.external_ident TO register_edit;
GRANT SELECT ON TABLE register.first_fill TO register_read;
GRANT SELECT ON TABLE register.foreign_participation TO register_read;
GRANT INSERT,UPDATE ON TABLE register.foreign_participation TO register_edit;
GRANT SELECT ON TABLE register.image TO register_read;
GRANT INSERT,DELETE,UPDATE ON TABLE register.image TO register_edit;
GRANT SELECT ON TABLE register.import_batch TO register_read;
GRANT SELECT ON TABLE register.import_data TO register_read;
GRANT SELECT ON TABLE register.import_definition TO register_read;
GRANT SELECT ON TABLE register.import_job TO register_read;
GRANT SELECT ON TABLE register.import_job_progress TO register_read;
GRANT SELECT ON TABLE register.import_link TO register_read;
GRANT SELECT ON TABLE register.import_mapping TO register_read;
GRANT SELECT ON TABLE register.import_upload TO register_read;
GRANT INSERT ON TABLE register.import_upload TO register_edit;
GRANT SELECT ON TABLE register.import_row TO register_read;
GRANT SELECT ON TABLE register.import_source_column TO register_read;
GRANT SELECT ON TABLE register.legal_form_used TO register_read;
GRANT SELECT ON TABLE register.legal_relationship TO register_read;
GRANT INSERT,DELETE,UPDATE ON TABLE register.legal_relationship TO register_edit;
GRANT SELECT ON TABLE register.legal_unit TO register_read;
GRANT INSERT,DELETE,UPDATE ON TABLE register.legal_unit TO register_edit;
GRANT USAGE ON SEQUENCE register.legal_unit_id_seq TO register_edit;
GRANT SELECT ON TABLE register.location TO register_read;
GRANT INSERT,DELETE,UPDATE ON TABLE register.location TO register_edit;
GRANT SELECT ON TABLE register.migration TO register_read;
GRANT SELECT ON TABLE register.person TO register_read;
GRANT INSERT,DELETE,UPDATE ON TABLE register.person TO register_edit;
GRANT SELECT ON TABLE register.person_for_unit TO register_read;
GRANT INSERT,DELETE,UPDATE ON TABLE register.person_for_unit TO register_edit;
GRANT SELECT ON TABLE register.person_role TO register_read;
GRANT INSERT,UPDATE ON TABLE register.person_role TO register_edit;
GRANT SELECT ON TABLE register.pipeline_step_weight TO register_read;
GRANT SELECT ON TABLE register.power_group TO register_read;
GRANT INSERT,DELETE,UPDATE ON TABLE register.power_group TO register_edit;
GRANT SELECT ON TABLE register.power_group_type TO register_read;
GRANT INSERT,UPDATE ON TABLE register.power_group_type TO register_edit;
GRANT SELECT ON TABLE register.power_root TO register_read;
GRANT INSERT,DELETE,UPDATE ON TABLE register.power_root TO register_edit;
GRANT SELECT ON TABLE register.progress_notice TO register_read;
GRANT SELECT ON TABLE register.region_used TO register_read;
GRANT SELECT ON TABLE register.region_version TO register_read;
GRANT INSERT,UPDATE ON TABLE register.region_version TO register_edit;
GRANT SELECT ON TABLE register.report_cell TO register_read;
GRANT SELECT ON TABLE register.report_state TO register_read;
GRANT SELECT ON TABLE register.round_batch TO register_read;
GRANT SELECT ON TABLE register.sector_used TO register_read;
GRANT SELECT ON TABLE register.staging_mark TO register_read;
GRANT SELECT ON TABLE register.stat_for_unit TO register_read;
GRANT INSERT,DELETE,UPDATE ON TABLE register.stat_for_unit TO register_edit;
GRANT SELECT ON TABLE register.statistical_history_row TO register_read;
GRANT SELECT ON TABLE register.statistical_history TO register_read;
GRANT SELECT ON TABLE register.statistical_history_facet_row TO register_read;
GRANT SELECT ON TABLE register.statistical_history_facet TO register_read;
GRANT SELECT ON TABLE register.statistical_history_staging TO register_read;
GRANT SELECT ON TABLE register.tag_for_unit TO register_read;
GRANT INSERT,DELETE,UPDATE ON TABLE register.tag_for_unit TO register_edit;
GRANT SELECT ON TABLE register.statistical_unit TO register_read;
GRANT SELECT ON TABLE register.statistical_unit_change TO register_read;
GRANT SELECT ON TABLE register.statistical_unit_facet_row TO register_read;
GRANT SELECT ON TABLE register.statistical_unit_facet TO register_read;
GRANT SELECT ON TABLE register.statistical_unit_facet_dirty_partitions TO register_read;
GRANT SELECT ON TABLE register.temporal_table TO register_read;
GRANT SELECT ON TABLE register.timesegments_years TO register_read;
GRANT SELECT ON TABLE register.unit_notes TO register_read;
GRANT INSERT,DELETE,UPDATE ON TABLE register.unit_notes TO register_edit;
GRANT SELECT ON TABLE register.version TO register_read;
