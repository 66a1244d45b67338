"""Dynamic tables on DuckLake: a query whose result is kept as a table and refreshed when its sources change.

The lake's catalog lives in the engine's PostgreSQL, beside the control schema ``lake``; its data are Parquet files in a
folder or a bucket. Refreshes are tasks of the engine. This package needs ``pip install 'catchment[lake]'``; everything
else of Catchment works without it.
"""

from typing import TYPE_CHECKING, Any

from catchment.errors import (
    CommitRefused,
    LakeDiskFull,
    LakeError,
    LakeInterrupted,
    LakeMemory,
    LakeUnavailable,
    PublishVetoed,
    RoundTimeout,
    SnapshotExpired,
    SourceChanged,
    TableMissing,
    TableRefused,
)

if TYPE_CHECKING:
    from catchment.lake.audit import AuditResult
    from catchment.lake.facade import Lake
    from catchment.lake.lifecycle import TableInfo
    from catchment.lake.rounds import RefreshInfo

__all__ = [
    "AuditResult",
    "CommitRefused",
    "Lake",
    "LakeDiskFull",
    "LakeError",
    "LakeInterrupted",
    "LakeMemory",
    "LakeUnavailable",
    "PublishVetoed",
    "RefreshInfo",
    "RoundTimeout",
    "SnapshotExpired",
    "SourceChanged",
    "TableInfo",
    "TableMissing",
    "TableRefused",
]

_PLACES = {"AuditResult": "audit", "Lake": "facade", "RefreshInfo": "rounds", "TableInfo": "lifecycle"}


def __getattr__(name: str) -> Any:
    """Import what needs DuckDB when it is asked for: the rest of Catchment looks into this package without it."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
