"""The answers of ``Lake`` about dynamic tables, and how the command line writes them as JSON.

Spans of time are ``timedelta``, moments ``datetime``; what is not known, or does not apply, is None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, cast

from catchment.errors import TableRefused
from catchment.lake.types import Column, Properties
from catchment.model.why import Condition


@dataclass(frozen=True, slots=True)
class TableSummary:
    """A summary of a dynamic table. ``state`` is ACTIVE, SUSPENDED or DROPPING; ``mode`` is the refresh mode of its
    definition, ``strategy`` how it is refreshed (``delta``, ``keys`` or ``full``), ``reason`` why it is ``full``."""

    name: str
    state: str
    suspended_by: str | None
    target_lag: timedelta | None
    lag: timedelta | None
    mode: str
    strategy: str
    reason: str | None
    rows: int | None
    bytes: int | None
    last_state: str | None
    last_action: str | None
    last_finished_at: datetime | None
    last_error: str | None
    open_state: str | None
    is_filled: bool
    scheduler: bool | str | None
    comment: str | None


@dataclass(frozen=True, slots=True)
class SourceRead:
    """A table that a dynamic table reads, with the snapshot and the number of rows that it read last."""

    name: str
    is_dynamic: bool
    used_columns: tuple[str, ...]
    table_id: int
    snapshot: int | None
    rows: int | None


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """The last comparison of a table with its query: the numbers of missing and extra rows, and its duration."""

    snapshot: int
    missing: int
    extra: int
    ms: float
    at: datetime


@dataclass(frozen=True, slots=True)
class LagStats:
    """The age of the data over a period; ``within_target`` is the share of the time within the target, from 0 to 1."""

    mean_lag: timedelta | None
    max_lag: timedelta | None
    within_target: float | None
    refreshes: int


@dataclass(frozen=True, slots=True)
class TableDescription:
    """A table: its definition and properties, the age of its data, its sources, and its last refresh.

    ``dynamic_table`` is the name with its schema. ``effective_lag`` is the target lag; for DOWNSTREAM, the one that the
    tables that read it require. ``open_…`` is the running refresh, ``last_…`` the one that ended last.
    """

    id: int
    schema_name: str
    name: str
    dynamic_table: str
    scheduling_state: str
    suspended_by: str | None
    target_lag: timedelta | None
    effective_lag: timedelta | None
    scheduler: bool | str | None
    refresh_mode: str
    strategy: str
    refresh_mode_reason: str | None
    is_always_due: bool
    comment: str | None
    is_filled: bool
    data_snapshot: int | None
    data_timestamp: datetime | None
    lag: timedelta | None
    commit_snapshot: int | None
    rows: int | None
    files: int | None
    bytes: int | None
    buckets: int | None
    last_refresh_id: int | None
    last_state: str | None
    last_action: str | None
    last_reason: str | None
    last_finished_at: datetime | None
    last_error_code: str | None
    last_error: str | None
    open_refresh_id: int | None
    open_state: str | None
    error_streak: int
    expected_ms: float | None
    component: int | None
    generation: int
    definition: str
    properties: Properties
    created_at: datetime
    updated_at: datetime
    sources: tuple[SourceRead, ...]
    read_by: tuple[str, ...]
    last_audit: AuditRecord | None
    open_subtasks: Mapping[str, int] | None
    columns: tuple[Column, ...]
    lag_last_day: LagStats
    reason_text: str | None


@dataclass(frozen=True, slots=True)
class TablePart:
    """A part of the query that is refreshed by its key. ``kind`` is its type, such as rows or groups; ``key``
    lists the columns by which its rows are replaced."""

    kind: str
    key: tuple[Column, ...]
    key_expressions: tuple[str, ...]
    is_unique: bool


@dataclass(frozen=True, slots=True)
class ChangeCount:
    """The numbers of inserted and deleted rows."""

    inserted: int | None
    deleted: int


@dataclass(frozen=True, slots=True)
class SourceChange:
    """A table that a query reads, and what has changed in it since the last refresh, if that is known."""

    name: str
    rows: int | None
    is_dynamic: bool
    used_columns: tuple[str, ...]
    changed: ChangeCount | None = None


@dataclass(frozen=True, slots=True)
class Parallel:
    """Whether refreshes may be divided into buckets, whether that is possible, and how."""

    allowed: bool | None
    possible: bool
    strategy: str
    threshold: int | None
    max_parallelism: int | None


@dataclass(frozen=True, slots=True)
class Forecast:
    """What the next refresh is expected to do. ``action`` is the action of the refresh, or ``fails``; then
    ``reason`` is the error code. ``keys`` is None unless the affected keys had to be counted."""

    action: str
    reason: str | None
    changed_rows: int | None = None
    predicted_ms: float | None = None
    predicted_full_ms: float | None = None
    detail: str | None = None
    keys: int | None = None


@dataclass(frozen=True, slots=True)
class TableExplanation:
    """How a table is refreshed and why. ``next`` is what its next refresh is expected to do; a table that does not
    exist yet has none."""

    name: str
    refresh_mode: str
    strategy: str
    reason: str | None
    reason_text: str | None
    is_always_due: bool
    parts: tuple[TablePart, ...]
    sources: tuple[SourceChange, ...]
    columns: tuple[Column, ...]
    hidden_columns: tuple[Column, ...]
    parallel: Parallel
    next: Forecast | None = None


@dataclass(frozen=True, slots=True)
class StatementExplanation:
    """One of several statements: its place in the text, and how its table would be refreshed, or why it is refused.
    ``name`` is None where the statement cannot be read so far."""

    statement: int
    line: int
    name: str | None
    explanation: TableExplanation | None
    error: TableRefused | None


@dataclass(frozen=True, slots=True)
class RefreshRecord:
    """A refresh of the history. ``state`` is SCHEDULED, EXECUTING, SUCCEEDED, FAILED, SKIPPED, UPSTREAM_FAILED or
    CANCELLED; ``action`` no_data, incremental, full, reinitialize or repair."""

    id: int
    name: str
    trigger: str
    state: str
    action: str | None
    reason: str | None
    data_snapshot: int | None
    data_timestamp: datetime | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    queued_ms: float | None
    plan_ms: float | None
    execute_ms: float | None
    inserted: int | None
    deleted: int | None
    keys: int | None
    rows: int | None
    changed_inputs: tuple[str, ...]
    is_parallel: bool
    error_code: str | None
    error: str | None
    commit_snapshot: int | None
    round_id: int
    task_id: int | None
    figures: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class TableLag:
    """The age of a table's data over the period; ``within_target`` is the share of the time within the target."""

    name: str
    target_lag: timedelta | None
    effective_lag: timedelta | None
    lag: timedelta | None
    mean_lag: timedelta | None
    max_lag: timedelta | None
    within_target: float | None
    looked_at: timedelta | None
    refreshes: int
    last_state: str | None


@dataclass(frozen=True, slots=True)
class TableWhy:
    """Why a table is late: the first condition is the age of its data; blocking conditions prevent its refresh.

    ``is_late`` is true if its lag exceeds its target.
    """

    name: str
    is_late: bool
    conditions: tuple[Condition, ...]

    @property
    def blocking(self) -> tuple[Condition, ...]:
        """The conditions that hold the table back."""
        return tuple(condition for condition in self.conditions if condition.is_blocking)

    @property
    def headline(self) -> str:
        """The state of the table, in a few words."""
        kinds = {condition.kind for condition in self.conditions}
        if self.is_late:
            how = "is late"
        elif "not_filled" in kinds:
            how = "has not been filled"
        elif "no_target" in kinds:
            how = "has no target lag"
        else:
            how = "is fresh"
        if "running" in kinds:
            how += ", and is being refreshed"
        elif self.blocking and not self.is_late:
            how += ", and does not get newer"
        return f"{self.name} {how}."

    def __str__(self) -> str:
        return " ".join([self.headline, *(condition.words for condition in self.conditions)])


@dataclass(frozen=True, slots=True)
class TableRead:
    """A table that another one reads."""

    name: str
    is_dynamic: bool


@dataclass(frozen=True, slots=True)
class TableNode:
    """A dynamic table in the graph; connected ones have the same ``component``."""

    name: str
    state: str
    component: int | None
    reads: tuple[TableRead, ...]


@dataclass(frozen=True, slots=True)
class Compaction:
    """The number of files before and after the compaction, and their size afterwards."""

    files_before: int
    files: int
    bytes: int


def as_row(answer: Any) -> dict[str, Any]:
    """An answer for people: plain values, lists, and spans that are still ``timedelta``."""
    return {item.name: _plain(getattr(answer, item.name), as_row) for item in fields(answer)}


def as_json(answer: Any) -> dict[str, Any]:
    """An answer as the command line writes it with ``--json``. Every answer of a kind has the same fields: what is not
    known is null, what has no entries is an empty list, and a span is a number of seconds whose name says so."""
    row: dict[str, Any] = {}
    for item in fields(answer):
        value = getattr(answer, item.name)
        if "timedelta" in str(item.type):
            row[f"{item.name}_seconds"] = None if value is None else value.total_seconds()
        else:
            row[item.name] = _plain(value, as_json)
    return row


def _plain(value: Any, nested: Callable[[Any], dict[str, Any]]) -> Any:
    if is_dataclass(value):
        return nested(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return [_plain(item, nested) for item in cast("tuple[Any, ...]", value)]
    return value
