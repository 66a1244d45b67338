"""Errors of dynamic tables."""

from __future__ import annotations

from catchment.errors.base import CatchmentError


class LakeError(CatchmentError):
    """Base of what goes wrong with dynamic tables. ``code`` is stable; the reference lists all codes."""

    default_code = "INTERNAL"

    def __init__(self, message: str, *, code: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code or self.default_code


class TableRefused(LakeError):
    """A definition, a property or a change of a dynamic table cannot be carried out. Nothing has happened."""

    default_code = "REFUSED"


class TableExists(TableRefused):
    """``CM014``: a dynamic table of this name exists. Choose another name, replace it, or drop it first."""


class TableInUse(TableRefused):
    """``CM029``: other dynamic tables read the table. Drop those first, or keep what they read."""


class TableBusy(TableRefused):
    """``CM030``: the dynamic table is being created, replaced or dropped. Wait until that has ended: ``catchment
    table list`` shows it."""


class SourceSuspended(TableRefused):
    """``CM031``: a source of the table is suspended. Resume that source: the tables that read it are
    resumed too."""


class TableNotFound(LakeError):
    """There is no dynamic table of this name."""

    default_code = "TABLE_MISSING"


class SourceChanged(LakeError):
    """A table that a dynamic table reads is gone, or lost a column, or its types no longer fit."""

    default_code = "SOURCE_MISSING"


class LakeUnavailable(LakeError):
    """The lake cannot be used: its catalog, its storage, or the DuckDB extensions that it needs."""

    default_code = "STORAGE"


class LakeOutOfMemory(LakeError):
    """A query needs more memory than ``CATCHMENT_LAKE_MEMORY_LIMIT`` allows."""

    default_code = "MEMORY"


class LakeDiskFull(LakeError):
    """There is no space left, for data files or for what DuckDB keeps on disk while it computes."""

    default_code = "DISK_FULL"


class LakeInterrupted(LakeError):
    """A query was stopped: its task is cancelled or past its deadline. The message says which."""

    default_code = "INTERRUPTED"


class SnapshotExpired(LakeError):
    """A version of the lake that a refresh needs does not exist any more."""

    default_code = "SNAPSHOT_EXPIRED"


class CommitConflict(LakeError):
    """Another commit to the lake came first. Nothing was written; the transaction can be done again."""

    default_code = "CONFLICT"


class PublishVetoed(LakeError):
    """``CM015``: the commit to the lake is refused. Another attempt has taken over the refresh, the table has a newer
    version, or the commit would create or drop a table that was not announced. Drop the result: the newest attempt
    publishes."""

    default_code = "FENCED"


class RefreshTimeout(LakeError, TimeoutError):
    """Tables were not refreshed before the timeout of the caller. The refresh continues."""

    default_code = "WAIT_TIMEOUT"
