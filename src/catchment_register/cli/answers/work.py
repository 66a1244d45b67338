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
    """``today`` is null if it follows the clock."""

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
    """``applied`` lists the migrations that were applied, ``countries`` counts the countries that were added,
    ``changed`` has the settings with a new value."""

    applied: list[str]
    countries: int
    changed: dict[str, Any]
    settings: Settings


class SkippedLine(Answer):
    """A line of a file that was skipped, and why."""

    line: int
    text: str


class CodesLoaded(Answer):
    """How many codes of the file were added, changed and so on."""

    added: int
    changed: int
    unchanged: int
    disabled: int
    problems: list[SkippedLine]


class Generated(Answer):
    """``rows`` is the number of rows of each file."""

    folder: str
    today: date
    rows: dict[str, int]


class Job(Answer):
    """An import job. ``held_by`` is the job whose review it waits for. Rates are null until they can be measured.
    ``valid_until`` is the first day after the validity; null if the rows have dates or there is no end."""

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
    """The import job, and the columns of the file that were ignored. Without ``--wait`` or ``--work`` the job has only
    started."""

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
    """The import job that was deleted."""

    id: int


class Round(Answer):
    """A round of derivation. ``seconds_to_units`` is the time until its units were published. The counts are of derived
    units; null until they are known."""

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
    reports_rebuilt: bool


class Derived(Answer):
    """``task_id`` is the new task, ``round`` the last round; null without ``--wait`` or ``--work``."""

    task_id: int
    round: Round | None


class Phase(Answer):
    """One of the two phases of derivation. ``step`` is the current stage, with ``completed`` of ``total`` tasks;
    ``pending``: it starts after the other phase."""

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
    """An import job that has not ended."""

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
    """``failures`` counts consecutive broken rounds. ``next_try`` is null if the next attempt is due."""

    round_id: int | None
    task_id: int
    command: str
    error: str | None
    failed_at: AwareDatetime
    failures: int
    next_try: AwareDatetime | None


class Status(Answer):
    """``changes_waiting`` counts the changes that no round has taken. ``jobs`` lists import jobs that have not ended.
    ``failure`` is the last failure while changes still wait because of it."""

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
    """``rules`` lists the rules that were checked. ``under_way``: changes are being derived, so published data was not
    compared."""

    rules: list[str]
    under_way: bool
    violations: list[Violation]


class Edited(Answer):
    """The unit. ``published_seconds`` is the time until the change was published; null without ``--wait`` or
    ``--work``."""

    unit_type: UnitType
    unit_id: int
    published_seconds: float | None


class Connected(Edited):
    """The legal unit and the enterprise that it belongs to."""

    enterprise_id: int


class Related(Answer):
    """The two legal units. ``published_seconds`` is the time until the change was published; null without ``--wait`` or
    ``--work``."""

    influencing_id: int
    influenced_id: int
    published_seconds: float | None
