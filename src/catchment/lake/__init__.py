"""Dynamic tables on DuckLake: a query whose result is kept as a table and refreshed when its sources change.

The lake's catalog lives in the engine's PostgreSQL, beside the control schema ``lake``; its data are Parquet files in a
folder or a bucket. Refreshes are tasks of the engine. This package needs ``pip install 'catchment[lake]'``; everything
else of Catchment works without it.
"""

from typing import TYPE_CHECKING

from catchment.errors import (
    CommitConflict,
    LakeDiskFull,
    LakeError,
    LakeInterrupted,
    LakeOutOfMemory,
    LakeUnavailable,
    PublishVetoed,
    RefreshTimeout,
    SnapshotExpired,
    SourceChanged,
    SourceSuspended,
    TableBusy,
    TableExists,
    TableInUse,
    TableNotFound,
    TableRefused,
)
from catchment.extras import LAKE
from catchment.lazy import lazy_names

if TYPE_CHECKING:
    from catchment.lake.facade import Lake
    from catchment.lake.load.load import LoadedFile, LoadInfo, LoadProgress
    from catchment.lake.refresh.audit import AuditResult
    from catchment.lake.tables.answers import (
        Compaction,
        RefreshRecord,
        StatementExplanation,
        TableDescription,
        TableExplanation,
        TableLag,
        TableNode,
        TableSummary,
        TableWhy,
    )
    from catchment.lake.tables.lifecycle import TableInfo
    from catchment.lake.tables.rounds import RefreshInfo
    from catchment.lake.tables.rows import OpenRows, Rows
    from catchment.lake.types import Properties
else:
    # Those that need DuckDB: the rest of Catchment looks into this package without it.
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "AuditResult": "refresh.audit",
            "Lake": "facade",
            "LoadInfo": "load.load",
            "LoadProgress": "load.load",
            "LoadedFile": "load.load",
            "Properties": "types",
            "Compaction": "tables.answers",
            "RefreshRecord": "tables.answers",
            "StatementExplanation": "tables.answers",
            "TableDescription": "tables.answers",
            "TableExplanation": "tables.answers",
            "TableLag": "tables.answers",
            "TableNode": "tables.answers",
            "TableSummary": "tables.answers",
            "TableWhy": "tables.answers",
            "RefreshInfo": "tables.rounds",
            "OpenRows": "tables.rows",
            "Rows": "tables.rows",
            "TableInfo": "tables.lifecycle",
        },
        LAKE,
    )

__all__ = [
    "AuditResult",
    "CommitConflict",
    "Compaction",
    "Lake",
    "LakeDiskFull",
    "LakeError",
    "LakeInterrupted",
    "LakeOutOfMemory",
    "LakeUnavailable",
    "LoadInfo",
    "LoadProgress",
    "LoadedFile",
    "OpenRows",
    "Properties",
    "PublishVetoed",
    "RefreshInfo",
    "RefreshRecord",
    "RefreshTimeout",
    "Rows",
    "SnapshotExpired",
    "SourceChanged",
    "SourceSuspended",
    "StatementExplanation",
    "TableBusy",
    "TableDescription",
    "TableExists",
    "TableExplanation",
    "TableInUse",
    "TableInfo",
    "TableLag",
    "TableNode",
    "TableNotFound",
    "TableRefused",
    "TableSummary",
    "TableWhy",
]
