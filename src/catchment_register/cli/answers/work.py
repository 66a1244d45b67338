"""Answers about what is installed, loaded, imported, derived and edited."""

from __future__ import annotations

from datetime import date
from typing import Any, Literal

from pydantic import AwareDatetime

from catchment_register.cli.answers.base import Answer, End, UnitType

JobState = Literal[
    "waiting_for_upload",
    "upload_completed",
    "preparing_data",
    "analysing_data",
    "waiting_for_review",
    "approved",
    "rejected",
    "processing_data",
    "finished",
    "failed",
]


class Settings(Answer):
    """``today`` is null if the clock says it."""

    country: str | None
    activity_standard: str | None
    region_version: str | None
    today: date | None
    batch_enterprises: int
    import_batch_rows: int
    partition_count_target: int
    rebuild_share: float
    truncates_text: bool


class Ready(Answer):
    """``applied`` are the migrations that were missing, ``countries`` counts those that were added. ``changed`` are the
    settings that have another value now."""

    applied: list[str]
    countries: int
    changed: dict[str, Any]
    settings: Settings


class SkippedLine(Answer):
    """A line of a file that was skipped, and why."""

    line: int
    text: str


class CodesLoaded(Answer):
    """What became of the codes of a file."""

    added: int
    changed: int
    unchanged: int
    disabled: int
    problems: list[SkippedLine]


class Generated(Answer):
    """``rows`` counts those of each file."""

    folder: str
    today: date
    rows: dict[str, int]


class Job(Answer):
    """An import job. ``held_by`` is the job whose review it waits for; rates are null until there is something to
    measure. ``valid_until`` is the first day after the validity, null if the rows say it or there is no end."""

    id: int
    slug: str
    definition: str | None
    strategy: str | None
    state: JobState
    current_step: str | None
    needs_review: bool
    total_rows: int | None
    analysed_rows: int
    error_rows: int
    warning_rows: int
    imported_rows: int
    analysis_percent: float
    import_percent: float
    analysis_rows_per_second: int | None
    import_rows_per_second: int | None
    error: str | None
    valid_from: date | None
    valid_until: End | None
    review: bool | None
    note: str | None
    created_at: AwareDatetime
    created_by: str
    uploaded_at: AwareDatetime | None
    finished_at: AwareDatetime | None
    expires_at: AwareDatetime
    held_by: int | None


class Imported(Job):
    """The import job, and ``ignored_columns`` of the file. Without ``--wait`` or ``--work`` it has only begun."""

    ignored_columns: list[str]


class Problem(Answer):
    """What is wrong with a row of a file, and in which column."""

    row_no: int
    problem: Literal["error", "warning"]
    column: str
    message: str
    ident: str | None
    name: str | None


class JobShown(Job):
    """An import job and its first ten problems."""

    problems: list[Problem]


class JobDeleted(Answer):
    """The import job that is gone."""

    id: int


class Round(Answer):
    """A round of derivation. ``seconds_to_units`` is when its units were published; the counts are those of units that
    it derived, null until they are known."""

    id: int
    kind: Literal["changes", "all", "direct", "reports", "roll"]
    state: Literal["open", "done", "broken"]
    started_at: AwareDatetime
    ended_at: AwareDatetime | None
    seconds: float
    seconds_to_units: float | None
    establishments: int | None
    legal_units: int | None
    enterprises: int | None
    power_groups: int | None
    batches: int | None
    reports_made_anew: bool


class Derived(Answer):
    """``task_id`` is the task that was asked for, ``round`` the last round, null without ``--wait`` or ``--work``."""

    task_id: int
    round: Round | None


class Phase(Answer):
    """One of the two phases of derivation. ``step`` is the stage that it has come to, with ``completed`` of ``total``
    tasks; ``pending``: it comes after the other phase."""

    phase: Literal["units", "reports"]
    active: bool
    pending: bool
    step: str | None
    total: int | None
    completed: int | None
    effective_establishment_count: int | None
    effective_legal_unit_count: int | None
    effective_enterprise_count: int | None
    effective_power_group_count: int | None
    percent: float | None


class OpenJob(Answer):
    """An import job that is not over."""

    job_id: int
    slug: str
    state: JobState
    current_step: str | None
    needs_review: bool
    total_rows: int | None
    analysed_rows: int
    imported_rows: int
    error_rows: int
    warning_rows: int
    analysis_percent: float
    import_percent: float
    held_by: int | None


class RoundFailure(Answer):
    """``failures`` counts the rounds that broke in a row. ``next_try`` is null if that is now."""

    round_id: int | None
    task_id: int
    command: str
    error: str | None
    failed_at: AwareDatetime
    failures: int
    next_try: AwareDatetime | None


class Status(Answer):
    """``changes_waiting`` counts those that no round has taken. ``jobs`` are those that are not over, ``failure`` is
    the last one while something still waits for it."""

    is_importing: bool
    is_deriving_statistical_units: bool
    is_deriving_reports: bool
    changes_waiting: int
    today: date
    phases: list[Phase]
    jobs: list[OpenJob]
    rounds: list[Round]
    failure: RoundFailure | None


class Violation(Answer):
    """Where a rule is broken."""

    rule: str
    detail: str


class Verified(Answer):
    """``rules`` are those that were checked. ``under_way``: changes are being derived, so that what is published was
    not compared."""

    rules: list[str]
    under_way: bool
    violations: list[Violation]


class Edited(Answer):
    """The unit. ``published_seconds`` is how long it took until the change was published, null without ``--wait`` or
    ``--work``."""

    unit_type: UnitType
    unit_id: int
    published_seconds: float | None


class Connected(Edited):
    """The legal unit and the enterprise that it belongs to."""

    enterprise_id: int


class Related(Answer):
    """The two legal units. ``published_seconds`` is how long it took until the change was published, null without
    ``--wait`` or ``--work``."""

    influencing_id: int
    influenced_id: int
    published_seconds: float | None
