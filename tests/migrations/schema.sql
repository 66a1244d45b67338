CREATE SCHEMA worker;
ALTER SCHEMA worker OWNER TO catchment_owner;
CREATE TYPE worker.claimed AS (
	id bigint,
	fence bigint,
	command text,
	payload jsonb,
	attempt integer,
	phase smallint,
	parent_id bigint,
	depth smallint,
	lane text,
	queue_id integer,
	timeout interval,
	failures integer,
	max_attempts integer,
	is_plain boolean,
	has_twins boolean,
	trace text,
	before_procedure text
);
ALTER TYPE worker.claimed OWNER TO catchment_owner;
CREATE TYPE worker.condition AS (
	kind text,
	is_blocking boolean,
	evidence jsonb,
	words text,
	remedy text
);
ALTER TYPE worker.condition OWNER TO catchment_owner;
CREATE TYPE worker.cron AS (
	minutes integer[],
	hours integer[],
	days integer[],
	months integer[],
	weekdays integer[],
	any_day boolean,
	any_weekday boolean,
	is_fixed boolean
);
ALTER TYPE worker.cron OWNER TO catchment_owner;
CREATE TYPE worker.run AS (
	id bigint,
	command text,
	queue_id integer,
	kind "char",
	tier smallint,
	band integer,
	place bigint,
	parent_id bigint,
	depth smallint,
	lane text,
	phase smallint,
	attempt integer,
	failures integer,
	interruptions integer,
	max_attempts integer,
	worker_pid integer,
	started_at timestamp with time zone,
	deadline_at timestamp with time zone,
	child_mode text,
	on_child_failure text,
	has_after boolean,
	has_merged boolean,
	has_follow_up boolean,
	cancel_reason text,
	expired_at timestamp with time zone
);
ALTER TYPE worker.run OWNER TO catchment_owner;
CREATE TYPE worker.ended AS (
	run worker.run,
	asked text,
	fate text,
	error jsonb,
	info jsonb,
	result jsonb
);
ALTER TYPE worker.ended OWNER TO catchment_owner;
CREATE TYPE worker.held_lane AS (
	row_id tid,
	queue_id integer,
	lane text,
	first_place bigint,
	last_place bigint,
	head_id bigint,
	policy text
);
ALTER TYPE worker.held_lane OWNER TO catchment_owner;
CREATE TYPE worker.lane_head AS (
	id bigint,
	command text,
	queue_id integer,
	lane text,
	has_failed boolean
);
ALTER TYPE worker.lane_head OWNER TO catchment_owner;
CREATE TYPE worker.scope_change AS (
	scope_id bigint,
	depth smallint,
	settled integer,
	failed integer,
	cancelled integer,
	spawned integer,
	has_info boolean,
	advances boolean
);
ALTER TYPE worker.scope_change OWNER TO catchment_owner;
CREATE TYPE worker.settled AS (
	id bigint,
	state text,
	command text,
	parent_id bigint,
	depth smallint,
	queue_id integer,
	lane text,
	place bigint,
	was_active boolean,
	has_info boolean,
	has_after boolean,
	has_merged boolean,
	has_follow_up boolean
);
ALTER TYPE worker.settled OWNER TO catchment_owner;
CREATE TYPE worker.sql_run AS (
	id bigint,
	fence bigint,
	command text,
	payload jsonb,
	signature text,
	name text,
	is_join boolean,
	before_call text,
	attempt integer,
	failures integer,
	max_attempts integer,
	is_batched boolean
);
ALTER TYPE worker.sql_run OWNER TO catchment_owner;
CREATE TYPE worker.whereabouts AS (
	at text,
	reason text,
	wait_id bigint,
	due_at timestamp with time zone,
	queue_id integer,
	kind "char",
	tier smallint,
	band integer,
	rank smallint,
	place bigint,
	lane text,
	phase smallint,
	attempt integer,
	failures integer,
	since timestamp with time zone
);
ALTER TYPE worker.whereabouts OWNER TO catchment_owner;
CREATE TABLE worker.bulk (
    id bigint NOT NULL,
    task_id bigint NOT NULL,
    verb text NOT NULL,
    filter jsonb NOT NULL,
    reason text NOT NULL,
    actor text NOT NULL,
    role text NOT NULL,
    login text NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    expected integer,
    last_at timestamp with time zone,
    last_id bigint DEFAULT 0 NOT NULL,
    done bigint DEFAULT 0 NOT NULL,
    skipped bigint DEFAULT 0 NOT NULL,
    problem text,
    audited_at timestamp with time zone,
    CONSTRAINT bulk_verb_is_known CHECK ((verb = ANY (ARRAY['retry'::text, 'cancel'::text])))
);
ALTER TABLE worker.bulk OWNER TO catchment_owner;
CREATE TABLE worker.scope (
    id bigint NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    open_children integer NOT NULL,
    total_children integer NOT NULL,
    failed_children integer DEFAULT 0 NOT NULL,
    cancelled_children integer DEFAULT 0 NOT NULL,
    child_mode text NOT NULL,
    on_child_failure text NOT NULL,
    has_child_info boolean DEFAULT false NOT NULL,
    is_joining boolean DEFAULT false NOT NULL,
    cancel_reason text,
    command text NOT NULL,
    queue_id integer NOT NULL,
    kind "char" NOT NULL,
    band integer NOT NULL,
    place bigint NOT NULL,
    parent_id bigint,
    depth smallint NOT NULL,
    lane text,
    attempt integer NOT NULL,
    has_after boolean NOT NULL,
    has_merged boolean NOT NULL,
    worker_pid integer,
    started_at timestamp with time zone NOT NULL,
    stopped_at timestamp with time zone NOT NULL,
    info jsonb,
    result jsonb,
    CONSTRAINT scope_child_mode_is_known CHECK ((child_mode = ANY (ARRAY['concurrent'::text, 'serial'::text]))),
    CONSTRAINT scope_children_are_counted CHECK (((open_children >= 0) AND (open_children <= total_children))),
    CONSTRAINT scope_on_child_failure_is_known CHECK ((on_child_failure = ANY (ARRAY['wait'::text, 'cancel_siblings'::text]))),
    CONSTRAINT scope_settles_after_its_children CHECK (((state = 'waiting'::text) OR (open_children = 0))),
    CONSTRAINT scope_state_is_known CHECK ((state = ANY (ARRAY['waiting'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])))
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');
ALTER TABLE worker.scope OWNER TO catchment_owner;
CREATE TABLE worker.schedule (
    name text NOT NULL,
    command text NOT NULL,
    payload jsonb DEFAULT '{}'::jsonb NOT NULL,
    every interval,
    cron text,
    timezone text DEFAULT 'UTC'::text NOT NULL,
    missed text DEFAULT 'one'::text NOT NULL,
    overlap text DEFAULT 'allow'::text NOT NULL,
    due_key text,
    lane text,
    priority integer,
    next_at timestamp with time zone,
    last_at timestamp with time zone,
    last_task_id bigint,
    recent_ids bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    runs bigint DEFAULT 0 NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    is_declared boolean DEFAULT false NOT NULL,
    CONSTRAINT schedule_cron_is_short CHECK ((length(cron) <= 500)),
    CONSTRAINT schedule_due_key_is_named CHECK (((due_key <> ''::text) AND (length(due_key) <= 200))),
    CONSTRAINT schedule_every_is_positive CHECK ((every >= '00:00:01'::interval)),
    CONSTRAINT schedule_has_one_rhythm CHECK (((every IS NULL) <> (cron IS NULL))),
    CONSTRAINT schedule_lane_is_named CHECK (((lane <> ''::text) AND (length(lane) <= 500))),
    CONSTRAINT schedule_missed_is_known CHECK ((missed = ANY (ARRAY['one'::text, 'all'::text, 'skip'::text]))),
    CONSTRAINT schedule_name_is_short CHECK (((name <> ''::text) AND (length(name) <= 500))),
    CONSTRAINT schedule_overlap_is_known CHECK ((overlap = ANY (ARRAY['allow'::text, 'skip'::text, 'wait'::text, 'cancel'::text]))),
    CONSTRAINT schedule_payload_is_object CHECK ((jsonb_typeof(payload) = 'object'::text))
);
ALTER TABLE worker.schedule OWNER TO catchment_owner;
CREATE TABLE worker.task (
    id bigint NOT NULL,
    command text NOT NULL,
    queue_id integer NOT NULL,
    kind "char" NOT NULL,
    payload jsonb NOT NULL,
    priority integer NOT NULL,
    parent_id bigint,
    root_id bigint,
    depth smallint DEFAULT 0 NOT NULL,
    follows_id bigint,
    place bigint NOT NULL,
    lane text,
    dedup_key text,
    gate text,
    scheduled_at timestamp with time zone,
    max_attempts integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    trace text,
    CONSTRAINT task_child_has_depth CHECK (((parent_id IS NULL) = (depth = 0))),
    CONSTRAINT task_child_has_no_lane CHECK (((parent_id IS NULL) OR (lane IS NULL))),
    CONSTRAINT task_child_has_root CHECK (((parent_id IS NULL) = (root_id IS NULL))),
    CONSTRAINT task_kind_is_known CHECK ((kind = ANY (ARRAY['s'::"char", 'p'::"char"]))),
    CONSTRAINT task_lane_is_named CHECK (((lane <> ''::text) AND (length(lane) <= 500))),
    CONSTRAINT task_max_attempts_positive CHECK ((max_attempts >= 1)),
    CONSTRAINT task_payload_is_object CHECK ((jsonb_typeof(payload) = 'object'::text)),
    CONSTRAINT task_trace_is_short CHECK ((length(trace) <= 200))
)
WITH (autovacuum_vacuum_insert_scale_factor='0.2', autovacuum_analyze_scale_factor='0.1');
ALTER TABLE worker.task OWNER TO catchment_owner;
CREATE TABLE worker.command_registry (
    command text NOT NULL,
    queue text NOT NULL,
    handler_kind text DEFAULT 'sql'::text NOT NULL,
    handler_procedure text,
    before_procedure text,
    after_procedure text,
    join_procedure text,
    handler_signature text,
    join_signature text,
    priority integer DEFAULT 100 NOT NULL,
    max_attempts integer DEFAULT 1 NOT NULL,
    retry_delay interval DEFAULT '00:00:01'::interval NOT NULL,
    retry_factor double precision DEFAULT 2 NOT NULL,
    retry_max_delay interval DEFAULT '00:01:00'::interval NOT NULL,
    retry_jitter double precision DEFAULT 0.1 NOT NULL,
    timeout interval,
    dedup text[],
    merge jsonb DEFAULT '{}'::jsonb NOT NULL,
    on_failure text,
    limit_key text[],
    max_running integer,
    rate integer,
    rate_per interval DEFAULT '00:00:01'::interval NOT NULL,
    is_batched boolean DEFAULT true NOT NULL,
    description text,
    payload_schema jsonb,
    project text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT command_kind_is_known CHECK ((handler_kind = ANY (ARRAY['sql'::text, 'python'::text]))),
    CONSTRAINT command_limit_has_key CHECK (((limit_key IS NOT NULL) = ((max_running IS NOT NULL) OR (rate IS NOT NULL)))),
    CONSTRAINT command_limit_without_dedup CHECK (((limit_key IS NULL) OR (dedup IS NULL))),
    CONSTRAINT command_max_attempts_positive CHECK ((max_attempts >= 1)),
    CONSTRAINT command_max_running_positive CHECK ((max_running >= 1)),
    CONSTRAINT command_merge_is_object CHECK ((jsonb_typeof(merge) = 'object'::text)),
    CONSTRAINT command_merge_needs_dedup CHECK (((merge = '{}'::jsonb) OR (dedup IS NOT NULL))),
    CONSTRAINT command_name_is_short CHECK (((command <> ''::text) AND (length(command) <= 200))),
    CONSTRAINT command_on_failure_is_known CHECK ((on_failure = ANY (ARRAY['continue'::text, 'halt'::text, 'cancel_rest'::text]))),
    CONSTRAINT command_rate_is_positive CHECK (((rate >= 1) AND (rate_per > '00:00:00'::interval))),
    CONSTRAINT command_retry_is_sane CHECK (((retry_factor >= (1)::double precision) AND ((retry_jitter >= (0)::double precision) AND (retry_jitter <= (1)::double precision)))),
    CONSTRAINT command_schema_is_object CHECK ((jsonb_typeof(payload_schema) = 'object'::text)),
    CONSTRAINT command_sql_has_handler CHECK (((handler_kind <> 'sql'::text) OR (handler_procedure IS NOT NULL))),
    CONSTRAINT command_timeout_positive CHECK ((timeout > '00:00:00'::interval))
);
ALTER TABLE worker.command_registry OWNER TO catchment_owner;
CREATE TABLE worker.after_call (
    task_id bigint NOT NULL,
    command text NOT NULL
);
ALTER TABLE worker.after_call OWNER TO catchment_owner;
CREATE TABLE worker.running (
    id bigint NOT NULL,
    fence bigint NOT NULL,
    worker_id bigint,
    worker_pid integer,
    backend_key bigint,
    queue_id integer NOT NULL,
    tier smallint NOT NULL,
    band integer NOT NULL,
    phase smallint NOT NULL,
    attempt integer NOT NULL,
    failures integer NOT NULL,
    interruptions integer NOT NULL,
    started_at timestamp with time zone NOT NULL,
    deadline_at timestamp with time zone,
    is_plain boolean NOT NULL,
    has_lane boolean NOT NULL,
    has_merged boolean DEFAULT false NOT NULL,
    cancel_reason text,
    expired_at timestamp with time zone,
    progress jsonb,
    CONSTRAINT running_has_owner CHECK (((worker_id IS NOT NULL) OR (backend_key IS NOT NULL)))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_cost_delay='0');
ALTER TABLE worker.running OWNER TO catchment_owner;
CREATE TABLE worker.claim_position (
    name text NOT NULL,
    tier smallint NOT NULL,
    band integer NOT NULL,
    rank smallint NOT NULL,
    place bigint NOT NULL,
    id bigint NOT NULL,
    looked_at timestamp with time zone NOT NULL,
    cost interval NOT NULL,
    published_at timestamp with time zone NOT NULL
);
ALTER TABLE worker.claim_position OWNER TO catchment_owner;
CREATE TABLE worker.queue_registry (
    queue text NOT NULL,
    queue_id integer NOT NULL,
    mode text DEFAULT 'serial'::text NOT NULL,
    concurrency integer DEFAULT 1 NOT NULL,
    max_depth integer DEFAULT 1,
    on_failure text,
    age_every interval DEFAULT '00:01:00'::interval NOT NULL,
    age_step integer DEFAULT 10 NOT NULL,
    max_running integer,
    rate integer,
    rate_per interval DEFAULT '00:00:01'::interval NOT NULL,
    paused_at timestamp with time zone,
    paused_until timestamp with time zone,
    paused_by text,
    description text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT queue_age_step_is_natural CHECK ((age_step >= 0)),
    CONSTRAINT queue_concurrency_positive CHECK ((concurrency >= 1)),
    CONSTRAINT queue_max_depth_is_sane CHECK (((max_depth >= 1) AND (max_depth <= 32767))),
    CONSTRAINT queue_max_running_positive CHECK ((max_running >= 1)),
    CONSTRAINT queue_mode_is_known CHECK ((mode = ANY (ARRAY['serial'::text, 'concurrent'::text]))),
    CONSTRAINT queue_name_is_short CHECK (((queue <> ''::text) AND (length(queue) <= 200))),
    CONSTRAINT queue_on_failure_is_known CHECK ((on_failure = ANY (ARRAY['continue'::text, 'halt'::text, 'cancel_rest'::text]))),
    CONSTRAINT queue_pause_is_readable CHECK (((paused_until >= '0001-01-03 00:00:00+00'::timestamp with time zone) AND (paused_until <= '9999-12-29 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT queue_rate_is_positive CHECK (((rate >= 1) AND (rate_per > '00:00:00'::interval)))
);
ALTER TABLE worker.queue_registry OWNER TO catchment_owner;
CREATE TABLE worker.arrival (
    arrival_id bigint NOT NULL,
    queue_id integer NOT NULL,
    lane text NOT NULL,
    first_place bigint NOT NULL,
    last_place bigint NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_cost_delay='0');
ALTER TABLE worker.arrival OWNER TO catchment_owner;
ALTER TABLE worker.arrival ALTER COLUMN arrival_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME worker.arrival_arrival_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE worker.ready (
    queue_id integer NOT NULL,
    kind "char" NOT NULL,
    tier smallint NOT NULL,
    band integer NOT NULL,
    rank smallint NOT NULL,
    place bigint NOT NULL,
    id bigint NOT NULL,
    phase smallint DEFAULT 0 NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    interruptions integer DEFAULT 0 NOT NULL,
    since timestamp with time zone NOT NULL
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_cost_delay='0', autovacuum_analyze_threshold='1000');
ALTER TABLE worker.ready OWNER TO catchment_owner;
CREATE VIEW worker.at_hand AS
 SELECT id,
    queue_id,
    kind,
    phase,
    rank,
    attempt,
    since,
        CASE
            WHEN (EXISTS ( SELECT
               FROM worker.queue_registry q
              WHERE ((q.queue_id = r.queue_id) AND ((q.mode = 'serial'::text) OR (q.max_running IS NOT NULL) OR (q.rate IS NOT NULL))))) THEN worker.held_by_queue(id)
            ELSE NULL::text
        END AS waits_for
   FROM worker.ready r;
ALTER VIEW worker.at_hand OWNER TO catchment_owner;
CREATE TABLE worker.attempt (
    task_id bigint NOT NULL,
    attempt integer NOT NULL,
    phase smallint DEFAULT 0 NOT NULL,
    state text NOT NULL,
    is_last boolean DEFAULT false NOT NULL,
    worker_pid integer,
    started_at timestamp with time zone,
    ended_at timestamp with time zone NOT NULL,
    error jsonb NOT NULL,
    CONSTRAINT attempt_state_is_known CHECK ((state = ANY (ARRAY['failed'::text, 'interrupted'::text, 'cancelled'::text, 'released'::text])))
);
ALTER TABLE worker.attempt OWNER TO catchment_owner;
CREATE TABLE worker.audit (
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    actor text NOT NULL,
    role text NOT NULL,
    login text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    request jsonb,
    result text NOT NULL,
    detail text,
    CONSTRAINT audit_result_is_known CHECK ((result = ANY (ARRAY['done'::text, 'refused'::text, 'failed'::text])))
);
ALTER TABLE worker.audit OWNER TO catchment_owner;
ALTER TABLE worker.audit ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME worker.audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE SEQUENCE worker.backend
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE worker.backend OWNER TO catchment_owner;
CREATE SEQUENCE worker.batch
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE worker.batch OWNER TO catchment_owner;
CREATE TABLE worker.blocked (
    id bigint NOT NULL,
    reason text NOT NULL,
    wait_id bigint,
    due_at timestamp with time zone,
    queue_id integer NOT NULL,
    kind "char" NOT NULL,
    tier smallint NOT NULL,
    band integer NOT NULL,
    rank smallint NOT NULL,
    place bigint NOT NULL,
    lane text,
    phase smallint DEFAULT 0 NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    interruptions integer DEFAULT 0 NOT NULL,
    CONSTRAINT blocked_behind_task CHECK (((wait_id IS NOT NULL) = (reason = ANY (ARRAY['serial'::text, 'follow_up'::text, 'merged'::text])))),
    CONSTRAINT blocked_in_lane CHECK (((reason <> ALL (ARRAY['lane'::text, 'limit'::text])) OR (lane IS NOT NULL))),
    CONSTRAINT blocked_phase_is_known CHECK ((phase = ANY (ARRAY[0, 1, 2]))),
    CONSTRAINT blocked_reason_is_known CHECK ((reason = ANY (ARRAY['scheduled'::text, 'retry'::text, 'snooze'::text, 'lane'::text, 'serial'::text, 'follow_up'::text, 'merged'::text, 'limit'::text]))),
    CONSTRAINT blocked_until_due CHECK (((due_at IS NOT NULL) = (reason = ANY (ARRAY['scheduled'::text, 'retry'::text, 'snooze'::text]))))
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='500', autovacuum_vacuum_cost_delay='0');
ALTER TABLE worker.blocked OWNER TO catchment_owner;
ALTER TABLE worker.bulk ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME worker.bulk_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE worker.cancel_request (
    task_id bigint NOT NULL,
    reason text NOT NULL,
    requested_at timestamp with time zone NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_cost_delay='0');
ALTER TABLE worker.cancel_request OWNER TO catchment_owner;
CREATE TABLE worker.commit_probe (
    filler text NOT NULL
);
ALTER TABLE ONLY worker.commit_probe ALTER COLUMN filler SET STORAGE EXTERNAL;
ALTER TABLE worker.commit_probe OWNER TO catchment_owner;
CREATE SEQUENCE worker.fence
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE worker.fence OWNER TO catchment_owner;
CREATE TABLE worker.gate (
    gate text NOT NULL,
    command text NOT NULL,
    held integer DEFAULT 0 NOT NULL,
    tokens double precision NOT NULL,
    refilled_at timestamp with time zone NOT NULL,
    next_at timestamp with time zone,
    CONSTRAINT gate_held_is_natural CHECK ((held >= 0))
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='500');
ALTER TABLE worker.gate OWNER TO catchment_owner;
CREATE TABLE worker.gate_arrival (
    arrival_id bigint NOT NULL,
    gate text NOT NULL,
    command text NOT NULL,
    freed integer DEFAULT 0 NOT NULL,
    unused integer DEFAULT 0 NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_cost_delay='0');
ALTER TABLE worker.gate_arrival OWNER TO catchment_owner;
ALTER TABLE worker.gate_arrival ALTER COLUMN arrival_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME worker.gate_arrival_arrival_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE worker.lane (
    queue_id integer NOT NULL,
    lane text NOT NULL,
    head_id bigint,
    first_place bigint DEFAULT 0 NOT NULL,
    last_place bigint DEFAULT 0 NOT NULL,
    halted_at timestamp with time zone,
    CONSTRAINT lane_halts_on_its_head CHECK (((halted_at IS NULL) OR (head_id IS NOT NULL))),
    CONSTRAINT lane_has_head CHECK (((lane = ''::text) OR (head_id IS NOT NULL)))
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='500', autovacuum_vacuum_cost_delay='0');
ALTER TABLE worker.lane OWNER TO catchment_owner;
CREATE VIEW worker.in_line AS
 SELECT id,
    reason,
    wait_id,
    due_at,
    queue_id,
    kind,
    phase,
    attempt,
    COALESCE(
        CASE
            WHEN ((reason = ANY (ARRAY['serial'::text, 'follow_up'::text, 'merged'::text])) OR (due_at > worker.moment())) THEN reason
            WHEN (reason = ANY (ARRAY['retry'::text, 'snooze'::text])) THEN NULL::text
            WHEN ((reason <> 'limit'::text) AND (lane IS NOT NULL)) THEN
            CASE
                WHEN ((EXISTS ( SELECT
                   FROM worker.lane l
                  WHERE ((l.queue_id = b.queue_id) AND (l.lane = b.lane)))) OR (( SELECT x.id
                   FROM worker.blocked x
                  WHERE ((x.reason = 'lane'::text) AND (x.queue_id = b.queue_id) AND (x.lane = b.lane))
                  ORDER BY x.place, x.id
                 LIMIT 1) <> id)) THEN 'lane'::text
                ELSE NULL::text
            END
            ELSE ( SELECT
                    CASE
                        WHEN ((p.child_mode = 'serial'::text) AND (b.reason = 'scheduled'::text)) THEN 'serial'::text
                        WHEN (((f.ahead + o.held) >= c.max_running) OR ((f.ahead)::double precision >= floor((o.tokens + (0.000001)::double precision)))) THEN 'limit'::text
                        ELSE NULL::text
                    END AS "case"
               FROM ((((worker.task t
                 LEFT JOIN worker.scope p ON ((p.id = t.parent_id)))
                 LEFT JOIN worker.command_registry c ON (((c.command = t.command) AND (t.gate IS NOT NULL))))
                 CROSS JOIN LATERAL ( SELECT count(*) AS ahead
                       FROM ( SELECT x.band,
                                x.place,
                                x.id
                               FROM worker.blocked x
                              WHERE ((x.reason = 'limit'::text) AND (x.lane = t.gate))
                              ORDER BY x.band, x.place, x.id
                             LIMIT LEAST(c.max_running, c.rate)) a
                      WHERE ((b.reason = 'scheduled'::text) OR (ROW(a.band, a.place, a.id) < ROW(b.band, b.place, b.id)))) f)
                 CROSS JOIN LATERAL ( SELECT GREATEST((COALESCE(g.held, 0) - COALESCE(r.freed, (0)::bigint)), (0)::bigint) AS held,
                        (COALESCE(worker.refilled(g.tokens, g.refilled_at, worker.moment(), c.rate, c.rate_per), (c.rate)::double precision) + (COALESCE(r.unused, (0)::bigint))::double precision) AS tokens
                       FROM (( SELECT sum(y.freed) AS freed,
                                sum(y.unused) AS unused
                               FROM ( SELECT z.gate,
                                        z.freed,
                                        z.unused
                                       FROM worker.gate_arrival z
                                      ORDER BY z.arrival_id
                                     LIMIT 1000) y
                              WHERE (y.gate = t.gate)) r
                         LEFT JOIN worker.gate g ON ((g.gate = t.gate)))) o)
              WHERE (t.id = b.id))
        END,
        CASE
            WHEN (EXISTS ( SELECT
               FROM worker.queue_registry q
              WHERE ((q.queue_id = b.queue_id) AND ((q.mode = 'serial'::text) OR (q.max_running IS NOT NULL) OR (q.rate IS NOT NULL))))) THEN worker.held_by_queue(id)
            ELSE NULL::text
        END) AS waits_for
   FROM worker.blocked b;
ALTER VIEW worker.in_line OWNER TO catchment_owner;
CREATE VIEW worker.lanes AS
 SELECT q.queue,
    l.lane,
        CASE
            WHEN (l.halted_at IS NOT NULL) THEN 'halted'::text
            WHEN (l.head_id IS NULL) THEN 'idle'::text
            WHEN (r.waits_for IS NOT NULL) THEN 'waiting'::text
            WHEN (r.id IS NOT NULL) THEN 'ready'::text
            WHEN (n.id IS NOT NULL) THEN 'running'::text
            ELSE 'waiting'::text
        END AS state,
    l.head_id,
    l.halted_at
   FROM (((worker.lane l
     JOIN worker.queue_registry q ON ((q.queue_id = l.queue_id)))
     LEFT JOIN worker.at_hand r ON (((r.id = l.head_id) AND (r.phase = 0))))
     LEFT JOIN worker.running n ON (((n.id = l.head_id) AND (n.phase = 0))))
UNION ALL
 SELECT q.queue,
    a.lane,
        CASE
            WHEN (w.waits_for IS NULL) THEN 'ready'::text
            ELSE 'waiting'::text
        END AS state,
    h.id AS head_id,
    NULL::timestamp with time zone AS halted_at
   FROM (((( SELECT x.queue_id,
            x.lane
           FROM worker.arrival x
          GROUP BY x.queue_id, x.lane) a
     JOIN worker.queue_registry q ON ((q.queue_id = a.queue_id)))
     CROSS JOIN LATERAL ( SELECT b.id
           FROM worker.blocked b
          WHERE ((b.reason = 'lane'::text) AND (b.queue_id = a.queue_id) AND (b.lane = a.lane))
          ORDER BY b.place, b.id
         LIMIT 1) h)
     JOIN worker.in_line w ON ((w.id = h.id)))
  WHERE (NOT (EXISTS ( SELECT
           FROM worker.lane l
          WHERE ((l.queue_id = a.queue_id) AND (l.lane = a.lane)))));
ALTER VIEW worker.lanes OWNER TO catchment_owner;
CREATE UNLOGGED TABLE worker.late_child (
    xact xid8 DEFAULT pg_current_xact_id() NOT NULL,
    task_id bigint NOT NULL,
    parent_id bigint NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_cost_delay='0');
ALTER TABLE worker.late_child OWNER TO catchment_owner;
CREATE TABLE worker.migration (
    number integer NOT NULL,
    name text NOT NULL,
    digest text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE worker.migration OWNER TO catchment_owner;
CREATE UNLOGGED TABLE worker.offspring (
    xact xid8 DEFAULT pg_current_xact_id() NOT NULL,
    fence bigint NOT NULL,
    child_mode text,
    on_child_failure text
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_cost_delay='0');
ALTER TABLE worker.offspring OWNER TO catchment_owner;
CREATE TABLE worker.outcome (
    id bigint NOT NULL,
    state text NOT NULL,
    attempt integer NOT NULL,
    worker_pid integer,
    started_at timestamp with time zone,
    stopped_at timestamp with time zone,
    completed_at timestamp with time zone NOT NULL,
    error jsonb,
    info jsonb,
    result jsonb,
    merged_into bigint,
    parent_id bigint,
    CONSTRAINT outcome_failure_has_error CHECK (((state = 'completed'::text) OR (error IS NOT NULL))),
    CONSTRAINT outcome_state_is_settled CHECK ((state = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])))
)
WITH (autovacuum_vacuum_insert_scale_factor='0.2');
ALTER TABLE worker.outcome OWNER TO catchment_owner;
CREATE TABLE worker.pending_key (
    dedup_key text NOT NULL,
    id bigint NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='500');
ALTER TABLE worker.pending_key OWNER TO catchment_owner;
CREATE TABLE worker.queue_meter (
    queue_id integer NOT NULL,
    tokens double precision NOT NULL,
    refilled_at timestamp with time zone NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE worker.queue_meter OWNER TO catchment_owner;
ALTER TABLE worker.queue_registry ALTER COLUMN queue_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME worker.queue_registry_queue_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW worker.queues AS
 SELECT q.queue,
    q.mode,
    q.concurrency,
    q.max_depth,
    ((q.paused_at IS NOT NULL) AND COALESCE((q.paused_until > worker.now()), true)) AS is_paused,
    q.paused_until,
    a.n AS ready,
    ((COALESCE(b.n, (0)::bigint) + COALESCE(r.n, (0)::bigint)) - a.n) AS blocked,
    COALESCE(n.n, (0)::bigint) AS processing,
    COALESCE(s.n, (0)::bigint) AS waiting,
        CASE
            WHEN (a.n > 0) THEN LEAST(r.oldest, l.oldest)
            ELSE NULL::timestamp with time zone
        END AS oldest_ready_since,
    q.description,
    COALESCE(h.n, (0)::bigint) AS halted_lanes
   FROM (((((((worker.queue_registry q
     LEFT JOIN ( SELECT x.queue_id,
            count(*) AS n,
            count(*) FILTER (WHERE ((x.tier = 1) AND (x.phase = 0))) AS top,
            min(x.since) AS oldest
           FROM worker.ready x
          GROUP BY x.queue_id) r USING (queue_id))
     LEFT JOIN ( SELECT x.queue_id,
            count(*) AS n
           FROM worker.blocked x
          GROUP BY x.queue_id) b USING (queue_id))
     LEFT JOIN ( SELECT x.queue_id,
            count(*) AS n,
            count(*) FILTER (WHERE x.is_top) AS top,
            min(x.since) AS oldest
           FROM worker.next_let_in() x(id, queue_id, kind, since, is_top)
          GROUP BY x.queue_id) l USING (queue_id))
     CROSS JOIN LATERAL ( SELECT worker.startable(q.*, (COALESCE(r.n, (0)::bigint) + COALESCE(l.n, (0)::bigint)), (COALESCE(r.top, (0)::bigint) + COALESCE(l.top, (0)::bigint))) AS n) a)
     LEFT JOIN ( SELECT x.queue_id,
            count(*) AS n
           FROM worker.running x
          GROUP BY x.queue_id) n USING (queue_id))
     LEFT JOIN ( SELECT x.queue_id,
            count(*) AS n
           FROM worker.scope x
          WHERE (x.state = 'waiting'::text)
          GROUP BY x.queue_id) s USING (queue_id))
     LEFT JOIN ( SELECT x.queue_id,
            count(*) AS n
           FROM worker.lane x
          WHERE (x.halted_at IS NOT NULL)
          GROUP BY x.queue_id) h USING (queue_id));
ALTER VIEW worker.queues OWNER TO catchment_owner;
CREATE TABLE worker.schedule_run (
    schedule text NOT NULL,
    n bigint NOT NULL,
    due_at timestamp with time zone NOT NULL,
    missed_from timestamp with time zone,
    at timestamp with time zone NOT NULL,
    fate text NOT NULL,
    task_id bigint,
    CONSTRAINT schedule_run_fate_is_known CHECK ((fate = ANY (ARRAY['made'::text, 'by_hand'::text, 'overlap'::text, 'missed'::text]))),
    CONSTRAINT schedule_run_made_has_task CHECK (((task_id IS NOT NULL) = (fate = ANY (ARRAY['made'::text, 'by_hand'::text]))))
);
ALTER TABLE worker.schedule_run OWNER TO catchment_owner;
CREATE TABLE worker.schedule_source (
    name text NOT NULL,
    digest text NOT NULL,
    definition jsonb NOT NULL,
    first_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    worker_ids bigint[] NOT NULL
);
ALTER TABLE worker.schedule_source OWNER TO catchment_owner;
CREATE UNLOGGED TABLE worker.sleeper (
    worker_id bigint NOT NULL,
    queue_id integer NOT NULL,
    tier smallint NOT NULL,
    kind "char" NOT NULL
);
ALTER TABLE worker.sleeper OWNER TO catchment_owner;
CREATE TABLE worker.snoozed (
    task_id bigint NOT NULL,
    times integer NOT NULL,
    until timestamp with time zone NOT NULL,
    at timestamp with time zone NOT NULL,
    reason text
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='500');
ALTER TABLE worker.snoozed OWNER TO catchment_owner;
ALTER TABLE worker.task ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME worker.task_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW worker.tasks AS
 SELECT t.id,
    t.command,
    t.payload,
    p.state,
    t.priority,
    t.parent_id,
    t.depth,
    p.child_mode,
    t.lane,
    t.scheduled_at,
    p.attempt,
    t.max_attempts,
    t.created_at,
    p.started_at AS process_start_at,
    p.stopped_at AS process_stop_at,
    p.completed_at,
        CASE
            WHEN (isfinite(p.stopped_at) AND isfinite(p.started_at)) THEN round((EXTRACT(epoch FROM (p.stopped_at - p.started_at)) * (1000)::numeric), 3)
            ELSE NULL::numeric
        END AS process_duration_ms,
        CASE
            WHEN (isfinite(p.completed_at) AND isfinite(p.started_at)) THEN round((EXTRACT(epoch FROM (p.completed_at - p.started_at)) * (1000)::numeric), 3)
            ELSE NULL::numeric
        END AS completion_duration_ms,
    p.worker_pid,
    (p.error ->> 'message'::text) AS error,
    p.info,
    q.queue,
        CASE t.kind
            WHEN 's'::"char" THEN 'sql'::text
            ELSE 'python'::text
        END AS handler_kind,
    t.root_id,
    t.follows_id,
    p.merged_into,
    p.fence,
    p.waits_for,
    p.due_at,
    p.progress,
    p.result,
    p.error AS error_detail,
    COALESCE(( SELECT z.times
           FROM worker.snoozed z
          WHERE (z.task_id = t.id)), 0) AS snoozes,
    p.cancel_reason,
    p.worker_id
   FROM ((( SELECT r.id,
            'pending'::text AS state,
            NULL::text AS child_mode,
            r.attempt,
            NULL::timestamp with time zone AS started_at,
            NULL::timestamp with time zone AS stopped_at,
            NULL::timestamp with time zone AS completed_at,
            NULL::integer AS worker_pid,
            NULL::jsonb AS error,
            NULL::jsonb AS info,
            NULL::bigint AS merged_into,
            NULL::bigint AS fence,
            r.waits_for,
            NULL::timestamp with time zone AS due_at,
            NULL::jsonb AS progress,
            NULL::jsonb AS result,
            NULL::text AS cancel_reason,
            NULL::bigint AS worker_id
           FROM worker.at_hand r
          WHERE ((r.phase = 0) AND (r.rank <> 0))
        UNION ALL
         SELECT r.id,
            'interrupted'::text,
            NULL::text,
            r.attempt,
            NULL::timestamp with time zone,
            NULL::timestamp with time zone,
            NULL::timestamp with time zone,
            NULL::integer,
            NULL::jsonb,
            NULL::jsonb,
            NULL::bigint,
            NULL::bigint,
            r.waits_for,
            NULL::timestamp with time zone,
            NULL::jsonb,
            NULL::jsonb,
            NULL::text,
            NULL::bigint
           FROM worker.at_hand r
          WHERE ((r.phase = 0) AND (r.rank = 0))
        UNION ALL
         SELECT b.id,
            'pending'::text,
            NULL::text,
            b.attempt,
            NULL::timestamp with time zone,
            NULL::timestamp with time zone,
            NULL::timestamp with time zone,
            NULL::integer,
            NULL::jsonb,
            NULL::jsonb,
                CASE
                    WHEN (b.reason = 'merged'::text) THEN b.wait_id
                    ELSE NULL::bigint
                END AS "case",
            NULL::bigint,
            b.waits_for,
            b.due_at,
            NULL::jsonb,
            NULL::jsonb,
            NULL::text,
            NULL::bigint
           FROM worker.in_line b
          WHERE (b.phase <> 1)
        UNION ALL
         SELECT r.id,
            'processing'::text,
            NULL::text,
                CASE r.phase
                    WHEN 1 THEN ( SELECT s.attempt
                       FROM worker.scope s
                      WHERE (s.id = r.id))
                    ELSE r.attempt
                END AS attempt,
            r.started_at,
            NULL::timestamp with time zone,
            NULL::timestamp with time zone,
            r.worker_pid,
            NULL::jsonb,
            NULL::jsonb,
            NULL::bigint,
            r.fence,
            NULL::text,
            r.deadline_at,
            r.progress,
            NULL::jsonb,
            r.cancel_reason,
            r.worker_id
           FROM worker.running r
        UNION ALL
         SELECT s.id,
            'waiting'::text,
            s.child_mode,
            s.attempt,
            s.started_at,
            s.stopped_at,
            NULL::timestamp with time zone,
            s.worker_pid,
            NULL::jsonb,
            s.info,
            NULL::bigint,
            NULL::bigint,
                CASE
                    WHEN s.is_joining THEN 'join'::text
                    ELSE 'children'::text
                END AS "case",
                CASE
                    WHEN s.is_joining THEN ( SELECT b.due_at
                       FROM worker.blocked b
                      WHERE (b.id = s.id))
                    ELSE NULL::timestamp with time zone
                END AS "case",
            jsonb_build_object('done', (s.total_children - s.open_children), 'total', s.total_children, 'failed', s.failed_children, 'cancelled', s.cancelled_children) AS jsonb_build_object,
            NULL::jsonb,
            s.cancel_reason,
            NULL::bigint
           FROM worker.scope s
          WHERE ((s.state = 'waiting'::text) AND (NOT (EXISTS ( SELECT
                   FROM worker.running r
                  WHERE (r.id = s.id)))))
        UNION ALL
         SELECT o.id,
            o.state,
            ( SELECT s.child_mode
                   FROM worker.scope s
                  WHERE (s.id = o.id)) AS child_mode,
            o.attempt,
            o.started_at,
            o.stopped_at,
            o.completed_at,
            o.worker_pid,
            o.error,
            o.info,
            o.merged_into,
            NULL::bigint,
            NULL::text,
            NULL::timestamp with time zone,
            ( SELECT jsonb_build_object('done', s.total_children, 'total', s.total_children, 'failed', s.failed_children, 'cancelled', s.cancelled_children) AS jsonb_build_object
                   FROM worker.scope s
                  WHERE (s.id = o.id)) AS jsonb_build_object,
            o.result,
            NULL::text,
            NULL::bigint
           FROM worker.outcome o) p
     JOIN worker.task t ON ((t.id = p.id)))
     JOIN worker.queue_registry q ON ((q.queue_id = t.queue_id)));
ALTER VIEW worker.tasks OWNER TO catchment_owner;
CREATE TABLE worker.top (
    queue_id integer NOT NULL,
    worker_id bigint,
    taken_at timestamp with time zone
)
WITH (fillfactor='50');
ALTER TABLE worker.top OWNER TO catchment_owner;
CREATE TABLE worker.trouble (
    step text NOT NULL,
    item text NOT NULL,
    sqlstate text NOT NULL,
    message text NOT NULL,
    count integer DEFAULT 1 NOT NULL,
    first_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL,
    retry_at timestamp with time zone NOT NULL
);
ALTER TABLE worker.trouble OWNER TO catchment_owner;
CREATE TABLE worker.turn (
    name text NOT NULL,
    "position" bigint DEFAULT 0 NOT NULL
);
ALTER TABLE worker.turn OWNER TO catchment_owner;
CREATE TABLE worker.version (
    is_one boolean DEFAULT true NOT NULL,
    fingerprint text NOT NULL,
    compatible_from integer NOT NULL,
    release text NOT NULL,
    CONSTRAINT version_is_one_check CHECK (is_one)
);
ALTER TABLE worker.version OWNER TO catchment_owner;
CREATE TABLE worker.warning (
    task_id bigint,
    at timestamp with time zone NOT NULL,
    source text NOT NULL,
    message text NOT NULL
);
ALTER TABLE worker.warning OWNER TO catchment_owner;
CREATE TABLE worker.worker (
    worker_id bigint NOT NULL,
    name text NOT NULL,
    pid integer,
    version text,
    lock_key bigint,
    lock_pid integer,
    lease_until timestamp with time zone NOT NULL,
    lock_lost_at timestamp with time zone,
    started_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    queues text[] DEFAULT '{}'::text[] NOT NULL,
    python_queues text[] DEFAULT '{}'::text[] NOT NULL,
    python_commands text[],
    available_capacity integer,
    max_capacity integer,
    memory_usage real,
    loop_lag real,
    asked text,
    asked_at timestamp with time zone,
    asked_by text,
    CONSTRAINT worker_asked_is_known CHECK ((asked = ANY (ARRAY['pause'::text, 'drain'::text])))
)
WITH (fillfactor='50');
ALTER TABLE worker.worker OWNER TO catchment_owner;
ALTER TABLE worker.worker ALTER COLUMN worker_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME worker.worker_worker_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE ONLY worker.tasks ALTER COLUMN id SET DEFAULT worker.tasks_on_conflict();
ALTER TABLE ONLY worker.tasks ALTER COLUMN payload SET DEFAULT '{}'::jsonb;
ALTER TABLE ONLY worker.arrival
    ADD CONSTRAINT arrival_pkey PRIMARY KEY (arrival_id);
ALTER TABLE ONLY worker.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);
ALTER TABLE ONLY worker.blocked
    ADD CONSTRAINT blocked_pkey PRIMARY KEY (id);
ALTER TABLE ONLY worker.bulk
    ADD CONSTRAINT bulk_pkey PRIMARY KEY (id);
ALTER TABLE ONLY worker.bulk
    ADD CONSTRAINT bulk_task_is_unique UNIQUE (task_id);
ALTER TABLE ONLY worker.claim_position
    ADD CONSTRAINT claim_position_pkey PRIMARY KEY (name);
ALTER TABLE ONLY worker.command_registry
    ADD CONSTRAINT command_registry_pkey PRIMARY KEY (command);
ALTER TABLE ONLY worker.gate_arrival
    ADD CONSTRAINT gate_arrival_pkey PRIMARY KEY (arrival_id);
ALTER TABLE ONLY worker.gate
    ADD CONSTRAINT gate_pkey PRIMARY KEY (gate);
ALTER TABLE ONLY worker.lane
    ADD CONSTRAINT lane_pkey PRIMARY KEY (queue_id, lane);
ALTER TABLE ONLY worker.late_child
    ADD CONSTRAINT late_child_pkey PRIMARY KEY (xact, task_id);
ALTER TABLE ONLY worker.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (number);
ALTER TABLE ONLY worker.offspring
    ADD CONSTRAINT offspring_pkey PRIMARY KEY (xact, fence);
ALTER TABLE ONLY worker.outcome
    ADD CONSTRAINT outcome_pkey PRIMARY KEY (id);
ALTER TABLE ONLY worker.pending_key
    ADD CONSTRAINT pending_key_pkey PRIMARY KEY (dedup_key, id);
ALTER TABLE ONLY worker.queue_registry
    ADD CONSTRAINT queue_id_is_unique UNIQUE (queue_id);
ALTER TABLE ONLY worker.queue_meter
    ADD CONSTRAINT queue_meter_pkey PRIMARY KEY (queue_id);
ALTER TABLE ONLY worker.queue_registry
    ADD CONSTRAINT queue_registry_pkey PRIMARY KEY (queue);
ALTER TABLE ONLY worker.ready
    ADD CONSTRAINT ready_pkey PRIMARY KEY (queue_id, kind, tier, band, rank, place, id);
ALTER TABLE ONLY worker.running
    ADD CONSTRAINT running_pkey PRIMARY KEY (id);
ALTER TABLE ONLY worker.schedule
    ADD CONSTRAINT schedule_pkey PRIMARY KEY (name);
ALTER TABLE ONLY worker.schedule_run
    ADD CONSTRAINT schedule_run_pkey PRIMARY KEY (schedule, n);
ALTER TABLE ONLY worker.schedule_source
    ADD CONSTRAINT schedule_source_pkey PRIMARY KEY (name, digest);
ALTER TABLE ONLY worker.scope
    ADD CONSTRAINT scope_pkey PRIMARY KEY (id);
ALTER TABLE ONLY worker.sleeper
    ADD CONSTRAINT sleeper_pkey PRIMARY KEY (queue_id, tier, worker_id, kind);
ALTER TABLE ONLY worker.snoozed
    ADD CONSTRAINT snoozed_pkey PRIMARY KEY (task_id);
ALTER TABLE ONLY worker.task
    ADD CONSTRAINT task_pkey PRIMARY KEY (id);
ALTER TABLE ONLY worker.top
    ADD CONSTRAINT top_pkey PRIMARY KEY (queue_id);
ALTER TABLE ONLY worker.trouble
    ADD CONSTRAINT trouble_pkey PRIMARY KEY (step, item);
ALTER TABLE ONLY worker.turn
    ADD CONSTRAINT turn_pkey PRIMARY KEY (name);
ALTER TABLE ONLY worker.version
    ADD CONSTRAINT version_pkey PRIMARY KEY (is_one);
ALTER TABLE ONLY worker.worker
    ADD CONSTRAINT worker_pkey PRIMARY KEY (worker_id);
CREATE INDEX attempt_task ON worker.attempt USING btree (task_id, attempt);
CREATE INDEX audit_at ON worker.audit USING btree (at);
CREATE INDEX blocked_due ON worker.blocked USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX blocked_lane ON worker.blocked USING btree (queue_id, lane, place, id) WHERE (reason = 'lane'::text);
CREATE INDEX blocked_limit ON worker.blocked USING btree (lane, band, place, id) WHERE (reason = 'limit'::text);
CREATE INDEX blocked_queue ON worker.blocked USING btree (queue_id) WHERE (reason <> 'lane'::text);
CREATE INDEX blocked_wait ON worker.blocked USING btree (wait_id, band, place, id) WHERE (wait_id IS NOT NULL);
CREATE INDEX cancel_request_task ON worker.cancel_request USING btree (task_id);
CREATE INDEX gate_next ON worker.gate USING btree (next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX lane_halted ON worker.lane USING btree (halted_at) WHERE (halted_at IS NOT NULL);
CREATE INDEX outcome_ended ON worker.outcome USING btree (completed_at);
CREATE INDEX outcome_merged ON worker.outcome USING btree (merged_into) WHERE (merged_into IS NOT NULL);
CREATE INDEX outcome_parent ON worker.outcome USING btree (parent_id, state, id) WHERE ((state <> 'completed'::text) AND (parent_id IS NOT NULL));
CREATE INDEX outcome_trouble ON worker.outcome USING btree (completed_at) WHERE (state <> 'completed'::text);
CREATE UNIQUE INDEX ready_id ON worker.ready USING btree (id);
CREATE INDEX ready_interrupted ON worker.ready USING btree (id) WHERE (rank = 0);
CREATE INDEX running_backend ON worker.running USING btree (backend_key, fence) WHERE (backend_key IS NOT NULL);
CREATE INDEX running_deadline ON worker.running USING btree (deadline_at) WHERE (deadline_at IS NOT NULL);
CREATE INDEX scope_parent ON worker.scope USING btree (parent_id, id) WHERE ((state = 'waiting'::text) AND (parent_id IS NOT NULL));
CREATE INDEX scope_waiting ON worker.scope USING btree (id) WHERE (state = 'waiting'::text);
CREATE INDEX task_follows ON worker.task USING btree (follows_id) WHERE (follows_id IS NOT NULL);
CREATE INDEX task_gate ON worker.task USING btree (gate, id) WHERE (gate IS NOT NULL);
CREATE INDEX task_parent ON worker.task USING btree (parent_id, id) WHERE (parent_id IS NOT NULL);
CREATE INDEX warning_at ON worker.warning USING btree (at);
CREATE INDEX warning_task ON worker.warning USING btree (task_id);
CREATE TRIGGER announce_command AFTER INSERT OR UPDATE OF queue, handler_kind ON worker.command_registry FOR EACH ROW EXECUTE FUNCTION worker.announce_queue();
CREATE TRIGGER announce_queue AFTER INSERT OR UPDATE ON worker.queue_registry FOR EACH ROW EXECUTE FUNCTION worker.announce_queue();
CREATE TRIGGER check_next_at BEFORE UPDATE OF next_at ON worker.schedule FOR EACH ROW WHEN (((new.next_at < '0001-01-03 00:00:00+00'::timestamp with time zone) OR (new.next_at > '9999-12-29 00:00:00+00'::timestamp with time zone))) EXECUTE FUNCTION worker.check_schedule();
CREATE TRIGGER check_schedule BEFORE INSERT OR UPDATE OF every, cron, timezone ON worker.schedule FOR EACH ROW EXECUTE FUNCTION worker.check_schedule();
CREATE CONSTRAINT TRIGGER count_late_children AFTER INSERT ON worker.late_child DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION worker.count_late_children();
CREATE TRIGGER enforce_no_grandchildren BEFORE INSERT ON worker.task FOR EACH ROW WHEN ((new.depth > 1)) EXECUTE FUNCTION worker.enforce_no_grandchildren();
CREATE TRIGGER pin_procedures BEFORE INSERT OR UPDATE OF handler_procedure, join_procedure, handler_signature, join_signature ON worker.command_registry FOR EACH ROW EXECUTE FUNCTION worker.pin_procedures();
CREATE TRIGGER refuse_early_settle BEFORE UPDATE OF state ON worker.scope FOR EACH ROW WHEN (((old.state = 'waiting'::text) AND (new.state <> 'waiting'::text))) EXECUTE FUNCTION worker.refuse_early_settle();
CREATE TRIGGER refuse_open_scope_delete BEFORE DELETE ON worker.scope FOR EACH ROW WHEN ((old.state = 'waiting'::text)) EXECUTE FUNCTION worker.refuse_open_scope_delete();
CREATE TRIGGER refuse_orphans AFTER DELETE ON worker.task REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION worker.refuse_orphans();
CREATE TRIGGER refuse_outcome_of_open_scope AFTER INSERT ON worker.outcome REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION worker.refuse_outcome_of_open_scope();
CREATE TRIGGER tasks_delete INSTEAD OF DELETE ON worker.tasks FOR EACH ROW EXECUTE FUNCTION worker.tasks_delete();
CREATE TRIGGER tasks_insert INSTEAD OF INSERT ON worker.tasks FOR EACH ROW EXECUTE FUNCTION worker.tasks_insert();
CREATE TRIGGER tasks_update INSTEAD OF UPDATE ON worker.tasks FOR EACH ROW EXECUTE FUNCTION worker.tasks_update();
ALTER TABLE ONLY worker.command_registry
    ADD CONSTRAINT command_registry_queue_fkey FOREIGN KEY (queue) REFERENCES worker.queue_registry(queue) ON UPDATE CASCADE;
ALTER TABLE ONLY worker.schedule
    ADD CONSTRAINT schedule_command_fkey FOREIGN KEY (command) REFERENCES worker.command_registry(command) ON UPDATE CASCADE;
ALTER TABLE ONLY worker.schedule_run
    ADD CONSTRAINT schedule_run_schedule_fkey FOREIGN KEY (schedule) REFERENCES worker.schedule(name) ON UPDATE CASCADE ON DELETE CASCADE;
GRANT USAGE ON SCHEMA worker TO catchment_enqueue;
GRANT USAGE ON SCHEMA worker TO catchment_worker;
GRANT USAGE ON SCHEMA worker TO catchment_read;
REVOKE ALL ON FUNCTION worker.admit_arrivals(p_limit integer, p_only text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.admit_to_gates(p_limit integer, p_only text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.adopt_schedules(p_only text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.advance_lanes(p_heads worker.lane_head[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.age_ready(p_limit integer, p_only text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.age_ready(p_limit integer, p_only text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.alike(p_name text, p_names text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.alike(p_name text, p_names text[]) TO catchment_read;
GRANT ALL ON FUNCTION worker.alike(p_name text, p_names text[]) TO catchment_worker;
REVOKE ALL ON PROCEDURE worker.analyze_tables(IN p_payload jsonb, INOUT p_info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE worker.analyze_tables(IN p_payload jsonb, INOUT p_info jsonb) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.announce_queue() FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.announce_start(p_run worker.sql_run) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.announce_start(p_run worker.sql_run) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.app_of(p_handler text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.app_of(p_handler text) TO catchment_read;
GRANT ALL ON FUNCTION worker.app_of(p_handler text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.are_projects_apart(p_one text, p_other text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.ask_worker(p_worker_id bigint, p_request text, p_by text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.ask_worker(p_worker_id bigint, p_request text, p_by text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.attempt_fate(p_task_id bigint, p_fence bigint, p_attempt integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.attempt_fate(p_task_id bigint, p_fence bigint, p_attempt integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.backends_to_signal(p_step text, p_dead bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.backends_to_signal(p_step text, p_dead bigint[]) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.batch_limit(p_asked integer, p_claimed integer, p_begun integer, p_took interval, p_span interval) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.batch_limit(p_asked integer, p_claimed integer, p_begun integer, p_took interval, p_span interval) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.begin_session(p_queue text, p_mode text, p_commits boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.begin_session(p_queue text, p_mode text, p_commits boolean) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.begin_tasks(p_queue text, p_tier integer, p_max_priority integer, p_sweeps boolean, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.begin_tasks(p_queue text, p_tier integer, p_max_priority integer, p_sweeps boolean, p_limit integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.behind(p_head_id bigint, p_halted_at timestamp with time zone, p_queue text, p_lane text, p_ahead bigint, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.blamed_child(p_scope_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.bulk_page(p_verb text, p_filter jsonb, p_until timestamp with time zone, p_before_id bigint, p_at timestamp with time zone, p_id bigint, p_looked integer) FROM PUBLIC;
REVOKE ALL ON PROCEDURE worker.call_handler(IN p_run worker.sql_run, INOUT p_info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE worker.call_handler(IN p_run worker.sql_run, INOUT p_info jsonb) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.call_of(p_signature text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.call_of(p_signature text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.call_text(p_name text, p_args integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.call_text(p_name text, p_args integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.called_upon(p_worker_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.called_upon(p_worker_id bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.cancel(p_task_id bigint, p_reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.cancel(p_task_id bigint, p_reason text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.cancel_joins(p_ids bigint[], p_reason text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.cancel_rest(p_head_ids bigint[]) FROM PUBLIC;
GRANT SELECT ON TABLE worker.bulk TO catchment_read;
GRANT SELECT ON TABLE worker.bulk TO catchment_worker;
REVOKE ALL ON FUNCTION worker.change_by_bulk(p_bulk worker.bulk, p_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.change_pending(p_task_id bigint, p_payload jsonb, p_priority integer, p_scheduled_at timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.change_scopes(p_changes worker.scope_change[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.check_bulk(p_verb text, p_filter jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.check_info(p_info jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.check_info(p_info jsonb) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.check_invariants() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.check_invariants() TO catchment_read;
GRANT ALL ON FUNCTION worker.check_invariants() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.check_most(p_most integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.check_payload(p_command text, p_payload jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.check_schedule() FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.check_snooze(p_until timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.check_time(p_at timestamp with time zone, p_column text, p_hint text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.children_error(p_scope worker.scope) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.children_info(p_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.children_of(p_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.children_of(p_id bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.chores() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.chores() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.claim(p_queue_id integer, p_kind "char", p_tier integer, p_limit integer, p_max_priority integer, p_worker_id bigint, p_backend_key bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.claim_tasks(p_worker_id bigint, p_queues text[], p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.claim_tasks(p_worker_id bigint, p_queues text[], p_limit integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.clock_change(p_timezone text, p_from timestamp with time zone, p_to timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.close_idle_scopes(p_only bigint, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.close_idle_scopes(p_only bigint, p_limit integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.close_scopes(p_scopes worker.scope[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.complete_and_go_on(p_worker_id bigint, p_ids bigint[], p_fences bigint[], p_infos jsonb[], p_results jsonb[], p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.complete_and_go_on(p_worker_id bigint, p_ids bigint[], p_fences bigint[], p_infos jsonb[], p_results jsonb[], p_limit integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.complete_parent_if_ready(child_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.complete_parent_if_ready(child_id bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.complete_spent(p_task_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.complete_task(p_task_id bigint, p_fence bigint, p_info jsonb, p_result jsonb, p_spawns jsonb, p_child_mode text, p_on_child_failure text, p_follow_ups jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.complete_task(p_task_id bigint, p_fence bigint, p_info jsonb, p_result jsonb, p_spawns jsonb, p_child_mode text, p_on_child_failure text, p_follow_ups jsonb) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.complete_tasks(p_ids bigint[], p_fences bigint[], p_infos jsonb[], p_results jsonb[]) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.complete_tasks(p_ids bigint[], p_fences bigint[], p_infos jsonb[], p_results jsonb[]) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.count_bulk(p_verb text, p_filter jsonb, p_most integer, p_looked integer, p_seen_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.count_bulk(p_verb text, p_filter jsonb, p_most integer, p_looked integer, p_seen_at timestamp with time zone) TO catchment_read;
GRANT ALL ON FUNCTION worker.count_bulk(p_verb text, p_filter jsonb, p_most integer, p_looked integer, p_seen_at timestamp with time zone) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.count_completed(p_ids bigint[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.count_late() FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.count_late_children() FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.counted_change(p_scope_id bigint, p_depth integer, p_settled integer, p_failed integer, p_cancelled integer, p_spawned integer, p_has_info boolean, p_advances boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.cron_field(p_cron text, p_field text, p_what text, p_low integer, p_high integer, p_names text[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.current_parent_id() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.current_parent_id() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.current_task_id() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.current_task_id() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.declare_schedules(p_worker_id bigint, p_schedules jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.declare_schedules(p_worker_id bigint, p_schedules jsonb) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.dedup_key(p_keys text[], p_command text, p_lane text, p_parent_id bigint, p_payload jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.delete_settled(p_completed_before timestamp with time zone, p_failed_before timestamp with time zone, p_limit integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.desired_capacity(p_queue text, p_soon interval, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.desired_capacity(p_queue text, p_soon interval, p_most integer) TO catchment_read;
GRANT ALL ON FUNCTION worker.desired_capacity(p_queue text, p_soon interval, p_most integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.do_step(p_step text, p_item text, p_dead bigint[]) FROM PUBLIC;
REVOKE ALL ON PROCEDURE worker.drain(IN p_queue text) FROM PUBLIC;
GRANT ALL ON PROCEDURE worker.drain(IN p_queue text) TO catchment_worker;
GRANT SELECT ON TABLE worker.schedule TO catchment_read;
GRANT SELECT ON TABLE worker.schedule TO catchment_worker;
REVOKE ALL ON FUNCTION worker.due_schedules() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.due_schedules() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.due_time(p_schedule worker.schedule, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.end_batch(p_ids bigint[], p_fences bigint[], p_asked text[], p_errors jsonb[], p_infos jsonb[], OUT p_states text[], OUT p_again interval[]) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.end_batch(p_ids bigint[], p_fences bigint[], p_asked text[], p_errors jsonb[], p_infos jsonb[], OUT p_states text[], OUT p_again interval[]) TO catchment_worker;
REVOKE ALL ON PROCEDURE worker.end_bulk(IN p_payload jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE worker.end_bulk(IN p_payload jsonb) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.end_by_snooze(p_until timestamp with time zone, p_reason text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.end_joins(p_ended worker.ended[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.end_scopes(p_ids bigint[], p_states text[], p_errors jsonb[], p_infos jsonb[], p_results jsonb[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.ended_tasks(p_after timestamp with time zone, p_after_id bigint, p_states text[], p_queue text, p_command text, p_lane text, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.ended_tasks(p_after timestamp with time zone, p_after_id bigint, p_states text[], p_queue text, p_command text, p_lane text, p_most integer) TO catchment_read;
GRANT ALL ON FUNCTION worker.ended_tasks(p_after timestamp with time zone, p_after_id bigint, p_states text[], p_queue text, p_command text, p_lane text, p_most integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.enforce_no_grandchildren() FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.enqueue(p_command text, p_payload jsonb, p_priority integer, p_lane text, p_scheduled_at timestamp with time zone, p_trace text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.enqueue(p_command text, p_payload jsonb, p_priority integer, p_lane text, p_scheduled_at timestamp with time zone, p_trace text) TO catchment_enqueue;
REVOKE ALL ON PROCEDURE worker.enqueue_analyze_tables(VARIADIC p_tables regclass[]) FROM PUBLIC;
GRANT ALL ON PROCEDURE worker.enqueue_analyze_tables(VARIADIC p_tables regclass[]) TO catchment_enqueue;
REVOKE ALL ON FUNCTION worker.enqueue_each(p_commands text[], p_payloads jsonb[], p_priorities integer[], p_lanes text[], p_scheduled_at timestamp with time zone[], p_delays interval[], p_traces text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.enqueue_each(p_commands text[], p_payloads jsonb[], p_priorities integer[], p_lanes text[], p_scheduled_at timestamp with time zone[], p_delays interval[], p_traces text[]) TO catchment_enqueue;
REVOKE ALL ON FUNCTION worker.enqueue_many(p_command text, p_payloads jsonb[], p_priority integer, p_lanes text[], p_scheduled_at timestamp with time zone, p_trace text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.enqueue_many(p_command text, p_payloads jsonb[], p_priority integer, p_lanes text[], p_scheduled_at timestamp with time zone, p_trace text) TO catchment_enqueue;
REVOKE ALL ON FUNCTION worker.enter_again(p_task worker.task) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.enter_batched(p_task_id bigint, p_is_batched boolean, p_command text, p_pace jsonb, p_ends_at timestamp with time zone, p_is_first boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.enter_batched(p_task_id bigint, p_is_batched boolean, p_command text, p_pace jsonb, p_ends_at timestamp with time zone, p_is_first boolean) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.enter_task(p_task_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.enter_task(p_task_id bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.expire_deadlines(p_only bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.expire_deadlines(p_only bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.explain(p_task_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.explain(p_task_id bigint) TO catchment_read;
GRANT ALL ON FUNCTION worker.explain(p_task_id bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.explain_cancel(p_task_id bigint, p_parent_id bigint, p_at worker.whereabouts, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.explain_follow_up(p_at worker.whereabouts, p_scheduled_at timestamp with time zone, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.explain_lane(p_task_id bigint, p_lane text, p_queue text, p_at worker.whereabouts, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.explain_limit(p_task_id bigint, p_gate text, p_command text, p_at worker.whereabouts, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.explain_line(p_task_id bigint, p_parent_id bigint, p_queue text, p_lane text, p_gate text, p_command text, p_scheduled_at timestamp with time zone, p_max_attempts integer, p_at worker.whereabouts, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.explain_merged(p_survivor_id bigint, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.explain_queue(p_queue text, p_at worker.whereabouts, p_ahead bigint, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.explain_ready(p_queue text, p_command text, p_at worker.whereabouts, p_ahead bigint, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.explain_running(p_task_id bigint, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.explain_scope(p_task_id bigint, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.explain_serial_queue(p_task_id bigint, p_queue text, p_at worker.whereabouts, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.explain_settled(p_task_id bigint, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.explain_siblings(p_task_id bigint, p_parent_id bigint, p_at worker.whereabouts, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.explain_time(p_task_id bigint, p_max_attempts integer, p_at worker.whereabouts, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.explain_trouble(p_task_id bigint, p_lane text, p_gate text, p_at worker.whereabouts, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.explain_workers(p_queue text, p_command text, p_at worker.whereabouts, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.fail_task(p_task_id bigint, p_fence bigint, p_error jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.fail_task(p_task_id bigint, p_fence bigint, p_error jsonb) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.failures_of(p_task_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.failures_of(p_task_id bigint) TO catchment_read;
GRANT ALL ON FUNCTION worker.failures_of(p_task_id bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.fate_of_time(p_schedule worker.schedule, p_due timestamp with time zone, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.filter_tasks(p_ids bigint[], p_command text, p_queue text, p_lane text, p_error text, p_made_after timestamp with time zone, p_made_before timestamp with time zone, p_is_top boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.find_children(p_scope_id bigint, p_state text, p_command text, p_after_id bigint, p_is_backward boolean, p_page integer, p_looked integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.find_children(p_scope_id bigint, p_state text, p_command text, p_after_id bigint, p_is_backward boolean, p_page integer, p_looked integer) TO catchment_read;
GRANT ALL ON FUNCTION worker.find_children(p_scope_id bigint, p_state text, p_command text, p_after_id bigint, p_is_backward boolean, p_page integer, p_looked integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.find_dead() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.find_dead() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.find_handler(p_command text, p_is_join boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.find_handler(p_command text, p_is_join boolean) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.find_scopes(p_is_open boolean, p_is_top boolean, p_before_id bigint, p_page integer, p_looked integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.find_scopes(p_is_open boolean, p_is_top boolean, p_before_id bigint, p_page integer, p_looked integer) TO catchment_read;
GRANT ALL ON FUNCTION worker.find_scopes(p_is_open boolean, p_is_top boolean, p_before_id bigint, p_page integer, p_looked integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.find_tasks(p_state text, p_command text, p_queue text, p_lane text, p_error text, p_made_after timestamp with time zone, p_made_before timestamp with time zone, p_is_top boolean, p_before_id bigint, p_before_at timestamp with time zone, p_page integer, p_looked integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.find_tasks(p_state text, p_command text, p_queue text, p_lane text, p_error text, p_made_after timestamp with time zone, p_made_before timestamp with time zone, p_is_top boolean, p_before_id bigint, p_before_at timestamp with time zone, p_page integer, p_looked integer) TO catchment_read;
GRANT ALL ON FUNCTION worker.find_tasks(p_state text, p_command text, p_queue text, p_lane text, p_error text, p_made_after timestamp with time zone, p_made_before timestamp with time zone, p_is_top boolean, p_before_id bigint, p_before_at timestamp with time zone, p_page integer, p_looked integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.finish_plain(p_ids bigint[], p_fences bigint[], p_infos jsonb[], p_results jsonb[], OUT p_done bigint[], OUT p_children bigint[], OUT p_heads bigint[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.fire_schedule(p_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.fire_schedule(p_name text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.fire_schedules(p_only text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.fold_pending(p_id bigint, p_claimed bigint[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.follow_through(p_settled worker.settled[], p_changes worker.scope_change[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.follow_up(p_command text, p_payload jsonb, p_priority integer, p_lane text, p_scheduled_at timestamp with time zone, p_trace text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.follow_up(p_command text, p_payload jsonb, p_priority integer, p_lane text, p_scheduled_at timestamp with time zone, p_trace text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.forget_projects(p_projects text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.forget_projects(p_projects text[]) TO catchment_worker;
REVOKE ALL ON PROCEDURE worker.forget_settings(IN p_hints text[]) FROM PUBLIC;
GRANT ALL ON PROCEDURE worker.forget_settings(IN p_hints text[]) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.forget_trouble(p_step text, p_item text, p_since timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.forget_trouble(p_step text, p_item text, p_since timestamp with time zone) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.forget_workers(p_dead bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.forget_workers(p_dead bigint[]) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.former_session(p_worker_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.former_session(p_worker_id bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.gate_figures(p_limit integer, p_pages integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.gate_figures(p_limit integer, p_pages integer) TO catchment_read;
GRANT ALL ON FUNCTION worker.gate_figures(p_limit integer, p_pages integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.gate_holders(p_gate text, p_from bigint, p_most integer) FROM PUBLIC;
GRANT SELECT ON TABLE worker.command_registry TO catchment_read;
GRANT SELECT ON TABLE worker.command_registry TO catchment_worker;
REVOKE ALL ON FUNCTION worker.gate_of(p_command worker.command_registry, p_payload jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.go_to_sleep(p_worker_id bigint, p_queue text, p_tiers integer[], p_kind "char") FROM PUBLIC;
GRANT ALL ON FUNCTION worker.go_to_sleep(p_worker_id bigint, p_queue text, p_tiers integer[], p_kind "char") TO catchment_worker;
REVOKE ALL ON FUNCTION worker.hanging_backends(p_dead bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.hanging_backends(p_dead bigint[]) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.has_active_child(p_scope_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.has_after_calls() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.has_after_calls() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.has_bulk() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.has_bulk() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.has_failed_siblings(task_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.has_failed_siblings(task_id bigint) TO catchment_read;
GRANT ALL ON FUNCTION worker.has_failed_siblings(task_id bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.has_pending_children(task_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.has_pending_children(task_id bigint) TO catchment_read;
GRANT ALL ON FUNCTION worker.has_pending_children(task_id bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.has_suspects() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.has_suspects() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.has_work(p_worker_id bigint, p_queues text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.has_work(p_worker_id bigint, p_queues text[]) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.heartbeat(p_worker_id bigint, p_lease interval, p_available_capacity integer, p_memory_usage real, p_loop_lag real) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.heartbeat(p_worker_id bigint, p_lease interval, p_available_capacity integer, p_memory_usage real, p_loop_lag real) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.held_by(p_worker_id bigint, p_ids bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.held_by(p_worker_id bigint, p_ids bigint[]) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.held_by_queue(p_task_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.held_by_queue(p_task_id bigint) TO catchment_read;
GRANT ALL ON FUNCTION worker.held_by_queue(p_task_id bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.hold_again(p_task worker.task, p_reason text, p_attempt integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.hold_backend_lock() FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.hold_follow_ups(p_root_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.hold_merged(p_task_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.hold_meters(p_queues text[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.hold_pending(p_task_id bigint, p_priority integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.hold_schedule(p_name text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.hold_worker_lock(p_worker_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.hold_worker_lock(p_worker_id bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.holds_task(p_run worker.running) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.insert_children(p_task worker.task, p_spawns jsonb, p_child_mode text, p_on_child_failure text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.insert_follow_up(p_task_id bigint, p_command text, p_payload jsonb, p_priority integer, p_lane text, p_scheduled_at timestamp with time zone, p_trace text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.insert_task(p_command text, p_payload jsonb, p_priority integer, p_lane text, p_scheduled_at timestamp with time zone, p_parent_id bigint, p_root_id bigint, p_depth smallint, p_late boolean, p_is_serial boolean, p_follows_id bigint, p_place bigint, p_trace text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.interrupt_abandoned(p_dead bigint[], p_only bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.interrupt_abandoned(p_dead bigint[], p_only bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.interrupt_orphans(p_only bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.interrupt_orphans(p_only bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.is_before(p_left text, p_right text, p_type text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.is_brief(p_pace jsonb, p_command text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.is_brief(p_pace jsonb, p_command text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.is_cancelling(p_task_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.is_idle(p_scope_id bigint, p_new integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.is_in_code(p_name text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.keep_engine() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.keep_engine() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.keep_step(p_step text, p_dead bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.keep_step(p_step text, p_dead bigint[]) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.known_limit(p_pace jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.known_limit(p_pace jsonb) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.known_pace() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.known_pace() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.known_position(p_name text, p_own text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.lane_figures(p_order text, p_limit integer, p_pages integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.lane_figures(p_order text, p_limit integer, p_pages integer) TO catchment_read;
GRANT ALL ON FUNCTION worker.lane_figures(p_order text, p_limit integer, p_pages integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.last_processed() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.last_processed() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.last_time(p_every interval, p_cron text, p_timezone text, p_due timestamp with time zone, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.leave_gate(p_gate text, p_command text, p_freed integer, p_unused integer, p_queue_id integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.leave_task() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.leave_task() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.leave_top(p_worker_ids bigint[], p_queue text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.leave_top(p_worker_ids bigint[], p_queue text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.let_in(p_queues text[], p_is_due boolean, p_has_arrived boolean, p_has_gates boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.let_in(p_queues text[], p_is_due boolean, p_has_arrived boolean, p_has_gates boolean) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.list_lanes(p_queue text, p_state text, p_limit integer, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.list_lanes(p_queue text, p_state text, p_limit integer, p_most integer) TO catchment_read;
GRANT ALL ON FUNCTION worker.list_lanes(p_queue text, p_state text, p_limit integer, p_most integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.lock_holders(p_keys bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.lock_holders(p_keys bigint[]) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.lock_patience(p_patience interval) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.lock_patience(p_patience interval) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.lock_scope(p_scope_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.lock_signalled() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.lock_signalled() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.lock_trees(p_ids bigint[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.look_from_start() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.look_from_start() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.make_offspring(p_task_id bigint, p_fence bigint, p_spawns jsonb, p_child_mode text, p_on_child_failure text, p_follow_ups jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.make_run(p_schedule worker.schedule, p_due timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.mark_dead_workers(p_grace interval, p_only bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.mark_dead_workers(p_grace interval, p_only bigint[]) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.may_analyze(p_table oid) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.may_analyze(p_table oid) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.may_batch() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.may_batch() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.may_fire(p_schedule worker.schedule) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.merge_into_pending(p_key text, p_rules jsonb, p_payload jsonb, p_priority integer, p_scheduled_at timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.merge_payload(p_rules jsonb, p_old jsonb, p_new jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.merge_value(p_key text, p_rule jsonb, p_old jsonb, p_new jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.moment() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.moment() TO catchment_read;
GRANT ALL ON FUNCTION worker.moment() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.more_durable(p_one text, p_other text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.more_durable(p_one text, p_other text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.new_troubles(p_since timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.new_troubles(p_since timestamp with time zone) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.next_cron(p_cron text, p_timezone text, p_after timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.next_cron(p_cron text, p_timezone text, p_after timestamp with time zone) TO catchment_read;
GRANT ALL ON FUNCTION worker.next_cron(p_cron text, p_timezone text, p_after timestamp with time zone) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.next_in_lane(p_lanes worker.held_lane[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.next_let_in(p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.next_let_in(p_most integer) TO catchment_read;
GRANT ALL ON FUNCTION worker.next_let_in(p_most integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.next_on_date(p_cron worker.cron, p_timezone text, p_date date, p_after timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.next_serial(p_scope_ids bigint[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.next_time(p_every interval, p_cron text, p_timezone text, p_previous timestamp with time zone, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.note_offspring(p_fence bigint, p_child_mode text, p_on_child_failure text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.note_pace(p_pace jsonb, p_command text, p_is_brief boolean, p_was_undone boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.note_pace(p_pace jsonb, p_command text, p_is_brief boolean, p_was_undone boolean) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.note_run(p_name text, p_due timestamp with time zone, p_missed_from timestamp with time zone, p_fate text, p_task_id bigint, p_next_at timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.note_trouble(p_step text, p_item text, p_sqlstate text, p_message text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.note_trouble(p_step text, p_item text, p_sqlstate text, p_message text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.noted_pace(p_pace jsonb, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.noted_pace(p_pace jsonb, p_limit integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.notify(p_channel text, p_payload text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.notify(p_channel text, p_payload text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.now() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.now() TO catchment_read;
GRANT ALL ON FUNCTION worker.now() TO catchment_worker;
GRANT ALL ON FUNCTION worker.now() TO catchment_enqueue;
REVOKE ALL ON FUNCTION worker.open_child(p_scope_id bigint, p_total integer, p_most integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.open_gates(p_gates text[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.open_runs(p_ids bigint[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.open_scopes(p_ended worker.ended[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.open_tasks(p_queues text[], p_commands text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.open_tasks(p_queues text[], p_commands text[]) TO catchment_read;
GRANT ALL ON FUNCTION worker.open_tasks(p_queues text[], p_commands text[]) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.opens_scope(p_fence bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.opens_scope(p_fence bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.own_backend_key() FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.parse_cron(p_cron text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.pause_before_try(p_try integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.pause_before_try(p_try integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.pause_queue(p_queue text, p_until timestamp with time zone, p_by text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.pause_queue(p_queue text, p_until timestamp with time zone, p_by text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.pause_schedule(p_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.pause_schedule(p_name text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.pick_before(p_queue_id integer, p_kind "char", p_tier smallint, p_from worker.claim_position, p_is_calm boolean, p_limit integer, p_max_priority integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.pick_ready(p_queue_id integer, p_kind "char", p_tier smallint, p_limit integer, p_max_priority integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.pick_serial(p_queue_id integer, p_kind "char", p_max_priority integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.pin_procedures() FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.pinned_signature(p_name text, p_before text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.procedure_signatures(p_name text, p_args integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.procedure_signatures(p_name text, p_args integer) TO catchment_read;
GRANT ALL ON FUNCTION worker.procedure_signatures(p_name text, p_args integer) TO catchment_worker;
REVOKE ALL ON PROCEDURE worker.process_tasks(IN p_batch_size integer, IN p_max_runtime_ms integer, IN p_queue text, IN p_max_priority integer, IN p_mode text) FROM PUBLIC;
GRANT ALL ON PROCEDURE worker.process_tasks(IN p_batch_size integer, IN p_max_runtime_ms integer, IN p_queue text, IN p_max_priority integer, IN p_mode text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.processed_task(p_run worker.sql_run, p_asked text, p_state text, p_error jsonb, p_again interval, p_took interval) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.processed_task(p_run worker.sql_run, p_asked text, p_state text, p_error jsonb, p_again interval, p_took interval) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.promote_due(p_limit integer, p_only bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.promote_due(p_limit integer, p_only bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.pulse() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.pulse() TO catchment_read;
GRANT ALL ON FUNCTION worker.pulse() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.put_off(p_task worker.task, p_due_at timestamp with time zone, p_gate text) FROM PUBLIC;
GRANT SELECT ON TABLE worker.queue_registry TO catchment_read;
GRANT SELECT ON TABLE worker.queue_registry TO catchment_worker;
REVOKE ALL ON FUNCTION worker.queue_allowance(p_queue worker.queue_registry) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.queue_figures(p_since timestamp with time zone, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.queue_figures(p_since timestamp with time zone, p_most integer) TO catchment_read;
GRANT ALL ON FUNCTION worker.queue_figures(p_since timestamp with time zone, p_most integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.queue_limits() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.queue_limits() TO catchment_read;
GRANT ALL ON FUNCTION worker.queue_limits() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.raise_bad_line(p_command text, p_lane text, p_trace text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.raise_fenced(p_task_id bigint, p_fence bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.raise_no_handler(p_command text, p_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.raise_no_handler(p_command text, p_name text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.raise_unknown_queue(p_queue text, p_hint text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.rate_reached(p_kind text, p_whose text, p_rate integer, p_per interval, p_tokens double precision, p_ahead bigint, p_evidence jsonb, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.ready_before(p_task_id bigint, p_at worker.whereabouts) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.recent_ends(p_within interval, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.recent_ends(p_within interval, p_most integer) TO catchment_read;
GRANT ALL ON FUNCTION worker.recent_ends(p_within interval, p_most integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.record_attempts(p_ended worker.ended[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.record_warning(p_task_id bigint, p_source text, p_message text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.record_warning(p_task_id bigint, p_source text, p_message text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.refilled(p_tokens double precision, p_since timestamp with time zone, p_now timestamp with time zone, p_rate integer, p_per interval) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.refilled(p_tokens double precision, p_since timestamp with time zone, p_now timestamp with time zone, p_rate integer, p_per interval) TO catchment_read;
GRANT ALL ON FUNCTION worker.refilled(p_tokens double precision, p_since timestamp with time zone, p_now timestamp with time zone, p_rate integer, p_per interval) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.refuse_early_settle() FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.refuse_if_cancelled(p_scope_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.refuse_open_scope_delete() FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.refuse_orphans() FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.refuse_other_projects(p_commands jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.refuse_outcome_of_open_scope() FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.refuse_schedule(p_message text, p_hint text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.refuse_unknown_schedule(p_name text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.register_commands(p_queues jsonb, p_commands jsonb, p_overwrite boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.register_commands(p_queues jsonb, p_commands jsonb, p_overwrite boolean) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.register_worker(p_name text, p_queues text[], p_max_capacity integer, p_lease interval, p_has_lock boolean, p_python_queues text[], p_python_commands text[], p_pid integer, p_version text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.register_worker(p_name text, p_queues text[], p_max_capacity integer, p_lease interval, p_has_lock boolean, p_python_queues text[], p_python_commands text[], p_pid integer, p_version text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.release_follow_ups(p_settled worker.settled[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.release_gates(p_settled worker.settled[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.release_task(p_task_id bigint, p_fence bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.release_task(p_task_id bigint, p_fence bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.remember_position(p_name text, p_from worker.claim_position, p_row tid) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.reopen_scope(p_task_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.report_progress(p_task_id bigint, p_fence bigint, p_progress jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.report_progress(p_task_id bigint, p_fence bigint, p_progress jsonb) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.requeue(p_ended worker.ended[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.reset_abandoned_processing_tasks() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.reset_abandoned_processing_tasks() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.resume_queue(p_queue text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.resume_queue(p_queue text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.resume_schedule(p_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.resume_schedule(p_name text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.retry(p_task_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.retry(p_task_id bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.retry_after(p_error jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.retry_delay(p_failures integer, p_delay interval, p_factor double precision, p_max_delay interval, p_jitter double precision) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.retry_failed(p_task_id bigint, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.retry_failed(p_task_id bigint, p_most integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.retry_hint(p_parent_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.retry_id(p_task_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.retry_id(p_task_id bigint) TO catchment_read;
GRANT ALL ON FUNCTION worker.retry_id(p_task_id bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.retry_troubles(p_dead bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.retry_troubles(p_dead bigint[]) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.root_cause(p_task_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.root_cause(p_task_id bigint) TO catchment_read;
GRANT ALL ON FUNCTION worker.root_cause(p_task_id bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.rouse_limited() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.rouse_limited() TO catchment_worker;
REVOKE ALL ON PROCEDURE worker.run_after_calls(IN p_commits boolean, IN p_limit integer, IN p_hints text[]) FROM PUBLIC;
GRANT ALL ON PROCEDURE worker.run_after_calls(IN p_commits boolean, IN p_limit integer, IN p_hints text[]) TO catchment_worker;
REVOKE ALL ON PROCEDURE worker.run_batch(IN p_runs worker.sql_run[], IN p_hints text[], IN p_until timestamp with time zone, INOUT p_pace jsonb, INOUT p_done jsonb, INOUT p_count integer, INOUT p_limit integer, INOUT p_alone integer, INOUT p_opens boolean, INOUT p_hooks boolean) FROM PUBLIC;
GRANT ALL ON PROCEDURE worker.run_batch(IN p_runs worker.sql_run[], IN p_hints text[], IN p_until timestamp with time zone, INOUT p_pace jsonb, INOUT p_done jsonb, INOUT p_count integer, INOUT p_limit integer, INOUT p_alone integer, INOUT p_opens boolean, INOUT p_hooks boolean) TO catchment_worker;
REVOKE ALL ON PROCEDURE worker.run_batched(IN p_run worker.sql_run, IN p_is_clean boolean, IN p_patience interval, IN p_lock_timeout text, INOUT p_state text, INOUT p_error jsonb, INOUT p_info jsonb, INOUT p_took interval) FROM PUBLIC;
GRANT ALL ON PROCEDURE worker.run_batched(IN p_run worker.sql_run, IN p_is_clean boolean, IN p_patience interval, IN p_lock_timeout text, INOUT p_state text, INOUT p_error jsonb, INOUT p_info jsonb, INOUT p_took interval) TO catchment_worker;
REVOKE ALL ON PROCEDURE worker.run_before(IN p_task_id bigint, IN p_procedure text, IN p_payload jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE worker.run_before(IN p_task_id bigint, IN p_procedure text, IN p_payload jsonb) TO catchment_worker;
REVOKE ALL ON PROCEDURE worker.run_bulk(IN p_payload jsonb, INOUT p_info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE worker.run_bulk(IN p_payload jsonb, INOUT p_info jsonb) TO catchment_worker;
REVOKE ALL ON PROCEDURE worker.run_bulk_batch(IN p_payload jsonb, INOUT p_info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE worker.run_bulk_batch(IN p_payload jsonb, INOUT p_info jsonb) TO catchment_worker;
REVOKE ALL ON PROCEDURE worker.run_handler(IN p_run worker.sql_run, IN p_commits boolean, INOUT p_state text, INOUT p_error jsonb, INOUT p_took interval) FROM PUBLIC;
GRANT ALL ON PROCEDURE worker.run_handler(IN p_run worker.sql_run, IN p_commits boolean, INOUT p_state text, INOUT p_error jsonb, INOUT p_took interval) TO catchment_worker;
REVOKE ALL ON PROCEDURE worker.run_hook(IN p_task_id bigint, IN p_source text, IN p_call text, IN p_payload jsonb, IN p_commits boolean) FROM PUBLIC;
GRANT ALL ON PROCEDURE worker.run_hook(IN p_task_id bigint, IN p_source text, IN p_call text, IN p_payload jsonb, IN p_commits boolean) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.run_schedule(p_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.run_schedule(p_name text) TO catchment_worker;
REVOKE ALL ON PROCEDURE worker.run_tasks(IN p_commits boolean, IN p_batch_size integer, IN p_max_runtime_ms integer, IN p_queue text, IN p_max_priority integer, IN p_mode text) FROM PUBLIC;
GRANT ALL ON PROCEDURE worker.run_tasks(IN p_commits boolean, IN p_batch_size integer, IN p_max_runtime_ms integer, IN p_queue text, IN p_max_priority integer, IN p_mode text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.said_count(p_count bigint, p_noun text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.said_count(p_count bigint, p_noun text) TO catchment_read;
GRANT ALL ON FUNCTION worker.said_count(p_count bigint, p_noun text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.said_more(p_count bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.said_span(p_span interval) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.said_span(p_span interval) TO catchment_read;
GRANT ALL ON FUNCTION worker.said_span(p_span interval) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.said_state(p_standing jsonb, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.said_task(p_standing jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.said_when(p_at timestamp with time zone, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.said_when(p_at timestamp with time zone, p_now timestamp with time zone) TO catchment_read;
GRANT ALL ON FUNCTION worker.said_when(p_at timestamp with time zone, p_now timestamp with time zone) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.schedule_fault(p_schedule worker.schedule) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.schedule_figures(p_after text, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.schedule_figures(p_after text, p_limit integer) TO catchment_read;
GRANT ALL ON FUNCTION worker.schedule_figures(p_after text, p_limit integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.schedule_history(p_name text, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.schedule_history(p_name text, p_limit integer) TO catchment_read;
GRANT ALL ON FUNCTION worker.schedule_history(p_name text, p_limit integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.schedule_problems() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.schedule_problems() TO catchment_read;
GRANT ALL ON FUNCTION worker.schedule_problems() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.scope_figures(p_scope_id bigint, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.scope_figures(p_scope_id bigint, p_most integer) TO catchment_read;
GRANT ALL ON FUNCTION worker.scope_figures(p_scope_id bigint, p_most integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.scope_groups(p_scope_id bigint, p_from timestamp with time zone, p_to timestamp with time zone, p_bins integer, p_most integer, p_points integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.scope_groups(p_scope_id bigint, p_from timestamp with time zone, p_to timestamp with time zone, p_bins integer, p_most integer, p_points integer) TO catchment_read;
GRANT ALL ON FUNCTION worker.scope_groups(p_scope_id bigint, p_from timestamp with time zone, p_to timestamp with time zone, p_bins integer, p_most integer, p_points integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.send_to_gates(p_ids bigint[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.served_queues() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.served_queues() TO catchment_read;
GRANT ALL ON FUNCTION worker.served_queues() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.serving(p_queue text, p_command text, p_kind "char", p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.session_hints(p_queue text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.session_hints(p_queue text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.set_aside(p_step text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.set_child_mode(p_run worker.running, p_child_mode text, p_on_child_failure text, p_is_held boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.set_worker_queues(p_worker_id bigint, p_queues text[], p_max_capacity integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.set_worker_queues(p_worker_id bigint, p_queues text[], p_max_capacity integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.settle(p_ids bigint[], p_fences bigint[], p_asked text[], p_errors jsonb[], p_infos jsonb[], p_results jsonb[]) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.settle(p_ids bigint[], p_fences bigint[], p_asked text[], p_errors jsonb[], p_infos jsonb[], p_results jsonb[]) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.settle_merged(p_settled worker.settled[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.settle_unstarted(p_ids bigint[], p_reason text) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.settled_task(p_id bigint, p_state text, p_command text, p_parent_id bigint, p_depth smallint, p_queue_id integer, p_lane text, p_place bigint, p_was_active boolean, p_has_info boolean, p_has_after boolean, p_has_merged boolean, p_has_follow_up boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.shell_command(p_start text, VARIADIC p_names text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.shell_command(p_start text, VARIADIC p_names text[]) TO catchment_read;
GRANT ALL ON FUNCTION worker.shell_command(p_start text, VARIADIC p_names text[]) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.shell_word(p_text text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.shell_word(p_text text) TO catchment_read;
GRANT ALL ON FUNCTION worker.shell_word(p_text text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.signal_backends(p_step text, p_pids integer[], p_since timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.signal_backends(p_step text, p_pids integer[], p_since timestamp with time zone) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.skip_halted(p_queue text, p_lane text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.skip_halted(p_queue text, p_lane text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.sleep_until(p_at timestamp with time zone, p_reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.sleep_until(p_at timestamp with time zone, p_reason text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.slots_taken(p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.slots_taken(p_most integer) TO catchment_read;
GRANT ALL ON FUNCTION worker.slots_taken(p_most integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.snooze(p_delay interval, p_reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.snooze(p_delay interval, p_reason text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.snooze_request(p_error jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.snooze_request(p_error jsonb) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.snooze_task(p_task_id bigint, p_fence bigint, p_until timestamp with time zone, p_reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.snooze_task(p_task_id bigint, p_fence bigint, p_until timestamp with time zone, p_reason text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.snoozed_until(p_error jsonb, p_now timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON PROCEDURE worker.spawn(IN p_command text, IN p_payload jsonb, IN p_parent_id bigint, IN p_priority integer, IN p_child_mode text, IN p_on_child_failure text, IN p_scheduled_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON PROCEDURE worker.spawn(IN p_command text, IN p_payload jsonb, IN p_parent_id bigint, IN p_priority integer, IN p_child_mode text, IN p_on_child_failure text, IN p_scheduled_at timestamp with time zone) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.spawn_child(p_command text, p_payload jsonb, p_parent_id bigint, p_priority integer, p_child_mode text, p_on_child_failure text, p_scheduled_at timestamp with time zone, p_trace text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.spawn_child(p_command text, p_payload jsonb, p_parent_id bigint, p_priority integer, p_child_mode text, p_on_child_failure text, p_scheduled_at timestamp with time zone, p_trace text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.spawn_children(p_task_id bigint, p_fence bigint, p_spawns jsonb, p_child_mode text, p_on_child_failure text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.spawn_children(p_task_id bigint, p_fence bigint, p_spawns jsonb, p_child_mode text, p_on_child_failure text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.spawn_many(p_command text, p_payloads jsonb[], p_parent_id bigint, p_priority integer, p_child_mode text, p_on_child_failure text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.spawn_many(p_command text, p_payloads jsonb[], p_parent_id bigint, p_priority integer, p_child_mode text, p_on_child_failure text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.sql_error(p_sqlstate text, p_message text, p_detail text, p_hint text, p_context text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.sql_error(p_sqlstate text, p_message text, p_detail text, p_hint text, p_context text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.standing(p_task_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.start_and_fold(p_rows tid[], p_queue text, p_worker_id bigint, p_backend_key bigint, p_serial boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.start_bulk(p_verb text, p_filter jsonb, p_reason text, p_actor text, p_role text, p_seen_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.start_bulk(p_verb text, p_filter jsonb, p_reason text, p_actor text, p_role text, p_seen_at timestamp with time zone) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.start_ready(p_rows tid[], p_serial boolean, p_worker_id bigint, p_backend_key bigint, p_queue_id integer, p_limit integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.startable(p_queue worker.queue_registry, p_ready bigint, p_top bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.startable(p_queue worker.queue_registry, p_ready bigint, p_top bigint) TO catchment_read;
GRANT ALL ON FUNCTION worker.startable(p_queue worker.queue_registry, p_ready bigint, p_top bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.step_items(p_step text, p_dead bigint[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.strangers() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.strangers() TO catchment_read;
GRANT ALL ON FUNCTION worker.strangers() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.surroundings_of(p_task_id bigint, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.surroundings_of(p_task_id bigint, p_most integer) TO catchment_read;
GRANT ALL ON FUNCTION worker.surroundings_of(p_task_id bigint, p_most integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.sweep_cancelled(p_only bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.sweep_cancelled(p_only bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.take_after_call(p_any boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.take_after_call(p_any boolean) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.take_allowance(p_queue worker.queue_registry, p_limit integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.take_attempts(p_ids bigint[], p_fences bigint[], p_asked text[], p_errors jsonb[], p_infos jsonb[], p_results jsonb[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.take_late() FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.take_top(p_worker_id bigint, p_queues text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.take_top(p_worker_id bigint, p_queues text[]) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.take_turn(p_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.take_turn(p_name text) TO catchment_worker;
REVOKE ALL ON PROCEDURE worker.task_cleanup(IN p_payload jsonb, INOUT p_info jsonb) FROM PUBLIC;
GRANT ALL ON PROCEDURE worker.task_cleanup(IN p_payload jsonb, INOUT p_info jsonb) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.task_tree(p_task_id bigint, p_state text, p_limit integer, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.task_tree(p_task_id bigint, p_state text, p_limit integer, p_most integer) TO catchment_read;
GRANT ALL ON FUNCTION worker.task_tree(p_task_id bigint, p_state text, p_limit integer, p_most integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.tasks_delete() FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.tasks_insert() FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.tasks_update() FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.tell_cancelled(p_ids bigint[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.top_taken(p_worker_id bigint, p_queues integer[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.try_worker_lock(p_worker_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.try_worker_lock(p_worker_id bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.unblock(p_ids bigint[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.unregister_worker(p_worker_id bigint, p_interrupted bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.unregister_worker(p_worker_id bigint, p_interrupted bigint[]) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.unserved_commands(p_most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.unserved_commands(p_most bigint) TO catchment_read;
GRANT ALL ON FUNCTION worker.unserved_commands(p_most bigint) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.unsettled_tree(p_task_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.upkeep() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.upkeep() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.upkeep_is_due() FROM PUBLIC;
GRANT ALL ON FUNCTION worker.upkeep_is_due() TO catchment_worker;
REVOKE ALL ON FUNCTION worker.use_allowance(p_queue worker.queue_registry, p_count integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.wake(p_queue_ids integer[], p_tier integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.wake_up(p_worker_id bigint, p_queue text, p_tiers integer[], p_kind "char") FROM PUBLIC;
GRANT ALL ON FUNCTION worker.wake_up(p_worker_id bigint, p_queue text, p_tiers integer[], p_kind "char") TO catchment_worker;
REVOKE ALL ON FUNCTION worker.whereabouts_of(p_task_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.work_left(p_worker_id bigint, p_queues text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.work_left(p_worker_id bigint, p_queues text[]) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.worker_tasks(p_worker_ids bigint[], p_each integer, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.worker_tasks(p_worker_ids bigint[], p_each integer, p_most integer) TO catchment_read;
GRANT ALL ON FUNCTION worker.worker_tasks(p_worker_ids bigint[], p_each integer, p_most integer) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.write_audit(p_actor text, p_role text, p_action text, p_subject text, p_request jsonb, p_result text, p_detail text) FROM PUBLIC;
GRANT ALL ON FUNCTION worker.write_audit(p_actor text, p_role text, p_action text, p_subject text, p_request jsonb, p_result text, p_detail text) TO catchment_worker;
REVOKE ALL ON FUNCTION worker.write_commands(p_commands jsonb, p_overwrite boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.write_lanes(p_rows tid[], p_heads bigint[], p_firsts bigint[], p_lasts bigint[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.write_outcomes(p_ended worker.ended[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION worker.write_queues(p_queues jsonb, p_overwrite boolean) FROM PUBLIC;
GRANT SELECT ON TABLE worker.attempt TO catchment_read;
GRANT SELECT ON TABLE worker.attempt TO catchment_worker;
GRANT SELECT ON TABLE worker.audit TO catchment_read;
GRANT SELECT ON TABLE worker.audit TO catchment_worker;
GRANT SELECT ON TABLE worker.commit_probe TO catchment_worker;
GRANT SELECT ON TABLE worker.lanes TO catchment_read;
GRANT SELECT ON TABLE worker.lanes TO catchment_worker;
GRANT SELECT ON TABLE worker.migration TO catchment_read;
GRANT SELECT ON TABLE worker.migration TO catchment_worker;
GRANT SELECT ON TABLE worker.migration TO catchment_enqueue;
GRANT SELECT ON TABLE worker.queues TO catchment_read;
GRANT SELECT ON TABLE worker.queues TO catchment_worker;
GRANT SELECT ON TABLE worker.schedule_run TO catchment_read;
GRANT SELECT ON TABLE worker.schedule_run TO catchment_worker;
GRANT SELECT ON TABLE worker.snoozed TO catchment_read;
GRANT SELECT ON TABLE worker.snoozed TO catchment_worker;
GRANT SELECT ON TABLE worker.tasks TO catchment_read;
GRANT SELECT ON TABLE worker.tasks TO catchment_worker;
GRANT SELECT(id) ON TABLE worker.tasks TO catchment_enqueue;
GRANT SELECT(command),INSERT(command) ON TABLE worker.tasks TO catchment_enqueue;
GRANT INSERT(payload) ON TABLE worker.tasks TO catchment_enqueue;
GRANT UPDATE(payload) ON TABLE worker.tasks TO catchment_worker;
GRANT SELECT(state) ON TABLE worker.tasks TO catchment_enqueue;
GRANT UPDATE(state) ON TABLE worker.tasks TO catchment_worker;
GRANT INSERT(priority) ON TABLE worker.tasks TO catchment_enqueue;
GRANT UPDATE(priority) ON TABLE worker.tasks TO catchment_worker;
GRANT INSERT(parent_id) ON TABLE worker.tasks TO catchment_enqueue;
GRANT INSERT(lane) ON TABLE worker.tasks TO catchment_enqueue;
GRANT INSERT(scheduled_at) ON TABLE worker.tasks TO catchment_enqueue;
GRANT UPDATE(scheduled_at) ON TABLE worker.tasks TO catchment_worker;
GRANT SELECT ON TABLE worker.trouble TO catchment_read;
GRANT SELECT ON TABLE worker.trouble TO catchment_worker;
GRANT SELECT ON TABLE worker.version TO catchment_read;
GRANT SELECT ON TABLE worker.version TO catchment_worker;
GRANT SELECT ON TABLE worker.version TO catchment_enqueue;
GRANT SELECT ON TABLE worker.warning TO catchment_read;
GRANT SELECT ON TABLE worker.warning TO catchment_worker;
GRANT SELECT ON TABLE worker.worker TO catchment_read;
GRANT SELECT ON TABLE worker.worker TO catchment_worker;
