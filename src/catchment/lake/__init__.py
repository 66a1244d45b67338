"""Dynamic tables on DuckLake: a query whose result is kept as a table and refreshed when its sources change.

The lake's catalog lives in the engine's PostgreSQL, beside the control schema ``lake``; its data are Parquet files in a
folder or a bucket. Refreshes are tasks of the engine. This package needs ``pip install 'catchment[lake]'``; everything
else of Catchment works without it.
"""

from catchment.errors import (
    CommitRefused,
    LakeDiskFull,
    LakeError,
    LakeInterrupted,
    LakeMemory,
    LakeUnavailable,
    PublishVetoed,
    SnapshotExpired,
    SourceChanged,
    TableMissing,
    TableRefused,
)

__all__ = [
    "CommitRefused",
    "LakeDiskFull",
    "LakeError",
    "LakeInterrupted",
    "LakeMemory",
    "LakeUnavailable",
    "PublishVetoed",
    "SnapshotExpired",
    "SourceChanged",
    "TableMissing",
    "TableRefused",
]
