"""Values that the parts of the lake hand to each other. No I/O and no decisions here.

A *source* is a table that a dynamic table reads, a *snapshot* a version of the whole lake, a *frontier* the snapshots
that a dynamic table's content corresponds to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Literal

Json = Mapping[str, Any]
"""An object that JSON can hold."""


class Mode(StrEnum):
    """How a table is to be refreshed: as it suits each time, only by changes, or only as a whole."""

    AUTO = "auto"
    INCREMENTAL = "incremental"
    FULL = "full"


class Action(StrEnum):
    """What one refresh did."""

    NO_DATA = "no_data"
    INCREMENTAL = "incremental"
    FULL = "full"
    REINITIALIZE = "reinitialize"
    REPAIR = "repair"


class Strategy(StrEnum):
    """How the keys of a parallel refresh are cut into buckets."""

    HASH_RANGE = "hash_range"
    MODULO = "modulo"
    PARTITION = "partition"


class Executor(StrEnum):
    """Where the ranges of a parallel refresh are computed: by workers, or on a cluster of Ray."""

    WORKER = "worker"
    RAY = "ray"


@dataclass(frozen=True, slots=True)
class TableRef:
    """A table of the lake by its name, unquoted."""

    schema: str
    name: str

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a result; the type as DuckDB writes it."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class ColumnAt:
    """A column of a lake table at some snapshot. The id survives a rename and changes when the column is replaced."""

    column_id: int
    type: str


@dataclass(frozen=True, slots=True)
class SourceTable:
    """A table that a definition may read, as it is at one snapshot. ``dt_id``: it is the content of a dynamic table.
    ``hides_rowid``: it has a column called rowid, used or not."""

    table_id: int
    ref: TableRef
    columns: Mapping[str, ColumnAt]
    rows: int
    dt_id: int | None = None
    partitioned_by: tuple[str, ...] = ()
    hides_rowid: bool = False


@dataclass(frozen=True, slots=True)
class ViewText:
    """A view of the lake as it was written. ``columns`` are the names that it gives its columns, if it does."""

    ref: TableRef
    sql: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Properties:
    """The properties of a dynamic table. Null means the global setting; a null target lag means DOWNSTREAM."""

    target_lag: timedelta | None = None
    refresh_mode: Mode = Mode.AUTO
    initialize: Literal["on_create", "on_schedule"] = "on_create"
    scheduler: bool = True
    comment: str | None = None
    allow_parallel_refresh: bool = True
    parallel_threshold: int | None = None
    max_parallelism: int | None = None
    parallel_strategy: Strategy = Strategy.HASH_RANGE
    cardinality_threshold: float | None = None
    executor: Executor | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; ``from_json`` reads it back."""
        return {
            "target_lag": None if self.target_lag is None else self.target_lag.total_seconds(),
            "refresh_mode": self.refresh_mode.value,
            "initialize": self.initialize,
            "scheduler": self.scheduler,
            "comment": self.comment,
            "allow_parallel_refresh": self.allow_parallel_refresh,
            "parallel_threshold": self.parallel_threshold,
            "max_parallelism": self.max_parallelism,
            "parallel_strategy": self.parallel_strategy.value,
            "cardinality_threshold": self.cardinality_threshold,
            "executor": None if self.executor is None else self.executor.value,
        }

    @classmethod
    def from_json(cls, json: Json) -> Properties:
        """What ``to_json`` wrote. A property that did not exist then has its default."""
        given = dict(json)
        lag = given.pop("target_lag", None)
        given["refresh_mode"] = Mode(given.get("refresh_mode", Mode.AUTO))
        given["parallel_strategy"] = Strategy(given.get("parallel_strategy", Strategy.HASH_RANGE))
        executor = given.pop("executor", None)
        given["executor"] = None if executor is None else Executor(executor)
        return cls(target_lag=None if lag is None else timedelta(seconds=lag), **given)


@dataclass(frozen=True, slots=True)
class Definition:
    """One ``CREATE DYNAMIC TABLE`` statement. ``query`` is the text of its SELECT as it was written."""

    ref: TableRef
    query: str
    properties: Properties
    or_replace: bool = False
    or_alter: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class SourceUse:
    """A table that a definition reads, and the columns it uses of it. ``dt_id``: it is that dynamic table's content."""

    table_id: int
    ref: TableRef
    dt_id: int | None
    used: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NewTable:
    """A dynamic table to be created, as its analysis left it."""

    definition: Definition
    definition_hash: str
    strategy: str
    reason: str | None
    is_always_due: bool
    layout: Json
    sources: tuple[SourceUse, ...]
    buckets: int = 1


@dataclass(frozen=True, slots=True)
class Created:
    """Where the content of a new dynamic table goes. ``exists``: there is one of this name, nothing has happened.
    ``replaces``: a table has content under the name, and this one takes its place when it is filled."""

    dt_id: int
    generation: int
    exists: bool
    replaces: int | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """One source of one refresh: changes in the snapshots (old, new].

    ``old``, ``rows_old`` and ``columns_old`` are what the frontier was computed from; ``old`` is None at first.
    ``merged_old`` is the newest merge of the source's files that was known then. ``rows_new`` is how many rows the
    source has at ``new`` by the reading that all refreshes of the round share; None where that is not known.
    """

    table_id: int
    ref: TableRef
    dt_id: int | None
    old: int | None
    new: int
    rows_old: int | None = None
    columns_old: Mapping[str, ColumnAt] = field(default_factory=dict[str, ColumnAt])
    merged_old: int = 0
    rows_new: int | None = None


@dataclass(frozen=True, slots=True)
class Replaced:
    """A dynamic table whose place another one takes, with its name and its content."""

    dt_id: int
    ref: TableRef
    physical: TableRef


@dataclass(frozen=True, slots=True)
class Order:
    """What ``lake.begin_refresh`` hands to the attempt that holds a refresh.

    ``forced`` names why the table has to be computed as a whole (FIRST_FILL, DEFINITION_CHANGED, FOREIGN_WRITE), or is
    None. ``state`` is EXECUTING; or PUBLISHED when an earlier attempt committed and only finishing is left; or SKIPPED
    when the table is already as new as this refresh would make it. ``plan`` is what ``store_plan`` kept.

    ``data_at`` is the moment of the round, which the clock shows in it; ``data_at_old`` that of the content.

    What the table holds now is to be read at ``stored_snapshot``, the newest snapshot when the refresh began: there,
    and only there, are rows that other sessions have written.

    ``replaces``: it is the first refresh of a new definition, and its commit puts that into the place of the old one.
    ``executor`` is what the lake says for tables that do not.
    """

    refresh_id: int
    fence: int
    dt_id: int
    generation: int
    definition: Definition
    definition_hash: str
    layout: Json
    buckets: int
    state: str
    trigger: str
    data_snapshot: int
    data_at: datetime
    data_at_old: datetime | None
    epoch: int
    commit_snapshot: int | None
    rows: int | None
    reads: tuple[Read, ...]
    forced: str | None
    stored_snapshot: int
    physical_id: int
    physical: TableRef
    plan: Json | None
    deadline_at: datetime | None
    replaces: Replaced | None = None
    executor: Executor | None = None


@dataclass(frozen=True, slots=True)
class ReadDone:
    """What a refresh has read of one source: becomes ``Read.old``, ``rows_old``, … of the next.

    ``replaces`` is the id of ``Read.table_id`` when another table has that name now.
    """

    table_id: int
    snapshot: int
    rows: int
    columns: Mapping[str, ColumnAt]
    replaces: int | None = None
    merged: int = 0


@dataclass(frozen=True, slots=True)
class Publication:
    """What a refresh is about to commit. ``buckets``: the number of storage buckets, where that changes.

    Of ``figures``, ``cost_units`` and ``cost_ms`` become a sample for predictions when the refresh is finished.
    """

    action: Action
    reason: str | None
    inserted: int
    deleted: int
    rows_after: int
    keys: int | None
    reads: tuple[ReadDone, ...]
    figures: Json = field(default_factory=dict[str, Any])
    buckets: int | None = None


@dataclass(frozen=True, slots=True)
class BucketRange:
    """The part of the keys that one subtask owns: hash mod ``total`` = ``partition``.

    ``partition`` None is the NULL bucket of ``modulo``; ``spec`` holds the partition values of ``partition``.
    """

    partition: int | None
    total: int
    spec: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class BucketResult:
    """What one subtask leaves for the join: files to register, a file of row ids to delete, buckets written whole.

    ``inserted`` and ``deleted`` are the rows that change, ``rows`` those in the files: more, where a bucket was written
    whole. ``is_split``: the subtask computed nothing and left its keys to two others. ``is_overtaken``: it computed
    nothing, because a definition was replaced meanwhile. ``executor`` is where it was computed, and ``fallback`` why
    not on the cluster.
    """

    files: tuple[str, ...] = ()
    deletes: str | None = None
    rewritten: tuple[int, ...] = ()
    inserted: int = 0
    deleted: int = 0
    rows: int = 0
    bytes: int = 0
    seconds: float = 0.0
    attempt: int = 1
    is_split: bool = False
    is_overtaken: bool = False
    executor: Executor = Executor.WORKER
    fallback: str | None = None
