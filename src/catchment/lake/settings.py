"""Settings of the lake from the environment. A value that cannot be read is refused with its name and the reason.

What SQL needs (failures that suspend a table, the time that history is kept, when a table is compacted) are columns of
``lake.lake`` instead; some of them get their first value from here.
"""

from __future__ import annotations

import os
import tempfile
from typing import Literal

from pydantic import Field, SecretStr, field_validator

from catchment.model.check import MOST_BYTES
from catchment.model.settings import Settings, also
from catchment.runtime.memory import memory_limit

MEMORY_SHARE = 0.6
_UNITS = {
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}


class LakeSettings(Settings):
    """Settings of dynamic tables."""

    parallel_refresh_enabled: bool = Field(
        True,
        validation_alias=also("PARALLEL_REFRESH_ENABLED"),
        description="If false, no refresh is split into subtasks.",
    )
    parallel_min_affected_keys: int = Field(
        10_000_000,
        ge=0,
        validation_alias=also("PARALLEL_MIN_AFFECTED_KEYS"),
        description="A refresh with at least this many affected keys is parallel.",
    )
    parallel_max_workers: int = Field(
        16,
        ge=1,
        validation_alias=also("PARALLEL_MAX_WORKERS"),
        description="Maximum number of concurrent subtasks of one refresh.",
    )
    parallel_timeout_seconds: float = Field(
        3600, gt=0, validation_alias=also("PARALLEL_TIMEOUT_SECONDS"), description="Deadline of a refresh."
    )
    parallel_keys_per_worker: int = Field(5_000_000, ge=1, description="Keys that keep one worker busy.")
    parallel_min_seconds: float = Field(10, ge=0, description="A refresh expected to take less is not parallel.")
    parallel_max_single_seconds: float = Field(60, ge=0, description="A refresh expected to take longer is parallel.")
    parallel_memory_share: float = Field(
        0.6, gt=0, le=1, description="A refresh expected to need more of the memory limit is parallel."
    )
    parallel_buckets_per_worker: int = Field(4, ge=1, description="Subtasks per worker, to balance the load.")
    parallel_keys_per_bucket: int = Field(1_000_000, ge=1, description="Maximum number of keys per subtask.")
    parallel_min_buckets: int = Field(8, ge=1, le=256, description="Minimum number of subtasks.")
    parallel_max_buckets: int = Field(256, ge=1, le=256, description="Maximum number of subtasks.")
    parallel_max_retries: int = Field(3, ge=0, description="Retries of a subtask.")
    parallel_no_progress_seconds: float = Field(
        600, gt=0, description="A parallel refresh in which no subtask starts or ends for this long fails."
    )

    lake_memory_limit: str | None = Field(
        None,
        description="Memory limit of DuckDB in this process, such as 1300MB. Defaults to 60 % of the machine.",
    )
    lake_threads: int | None = Field(
        None, ge=1, description="Threads of DuckDB in this process. Defaults to all cores."
    )
    lake_temp_directory: str | None = Field(
        None, description="Folder for data that do not fit into memory. Defaults to the temporary folder of the system."
    )
    lake_full_above: float = Field(0.3, gt=0, le=1, description="Share of keys above which a refresh is full.")
    lake_small_ms: float = Field(300, ge=0, description="A refresh is full if that is expected to take less.")
    lake_rewrite_above: float = Field(
        0.3, gt=0, le=1, description="Share of deleted rows above which a bucket is rewritten."
    )
    lake_wholesale_above: float = Field(
        0.5, gt=0, le=1, description="Share of changed rows above which a whole table is rewritten."
    )
    lake_rows_per_bucket: int = Field(1_000_000, ge=1, description="Approximate number of rows per bucket.")
    lake_compact_files: int = Field(
        64, ge=2, description="A table with this many files is compacted. Set at installation."
    )
    lake_compact_deletes: float = Field(
        0.3, gt=0, le=1, description="A table with this share of deleted rows is compacted. Set at installation."
    )
    lake_artifact_grace_seconds: float = Field(
        60, ge=0, description="Time after which files of an interrupted attempt are searched again."
    )
    lake_history_days: int = Field(30, ge=1, description="Retention of the refresh history. Set at installation.")
    lake_expire_days: float = Field(
        0,
        ge=0,
        description="Age at which unneeded snapshots are removed, daily. Set at installation; 0: never.",
    )
    lake_orphan_days: float = Field(
        0,
        ge=0,
        description="Age at which files of no table are removed, daily. Set at installation; 0: never.",
    )
    lake_executor: Literal["worker", "ray"] = Field(
        "worker",
        description="Default executor of subtasks: worker or ray. The lake and the table can override it.",
    )
    lake_ray_tasks: int = Field(
        8, ge=1, le=1000, description="With ray: maximum number of concurrent subtasks of a worker process."
    )
    lake_ray_cpus: int = Field(
        1, ge=1, le=1000, description="Threads of a subtask on the cluster, and CPUs that it reserves."
    )
    lake_ray_memory: str = Field("2GB", description="Memory that a subtask on the cluster reserves and uses.")
    lake_audit_every: int = Field(0, ge=0, description="Audit a table after every N refreshes; 0: never.")

    s3_key_id: str | None = Field(None, description="Access key of the bucket.")
    s3_secret: SecretStr | None = Field(None, description="Secret of that key.")
    s3_region: str | None = Field(None, description="Region of the bucket.")
    s3_endpoint: str | None = Field(None, description="host:port of a store other than Amazon S3.")
    s3_url_style: Literal["vhost", "path"] = Field("vhost", description="URL style of the store.")
    s3_use_ssl: bool = Field(True, description="Use TLS; disable it for a store without TLS.")

    @field_validator("lake_memory_limit", "lake_ray_memory")
    @classmethod
    def _check_memory(cls, value: str | None) -> str | None:
        if value is not None:
            bytes_of(value)
        return value

    @property
    def memory_bytes(self) -> int:
        """The memory limit of DuckDB in bytes."""
        if self.lake_memory_limit is not None:
            return bytes_of(self.lake_memory_limit)
        return int(memory_limit() * MEMORY_SHARE)

    @property
    def threads(self) -> int:
        """Threads of DuckDB."""
        return self.lake_threads or len(os.sched_getaffinity(0))

    @property
    def temp_directory(self) -> str:
        """Where DuckDB may make a folder for what does not fit into memory."""
        return self.lake_temp_directory or tempfile.gettempdir()


def bytes_of(text: str) -> int:
    """``1300MB`` as a number of bytes, less than ``MOST_BYTES``; raises ``ValueError``."""
    number = text.strip().rstrip("BbIiKkMmGgTt ")
    unit = text.strip()[len(number) :].strip().lower()
    try:
        size = int(float(number) * (_UNITS[unit] if unit else 1))
    except (ValueError, KeyError, OverflowError):
        size = 0
    if not 0 < size < MOST_BYTES:
        raise ValueError(f"{text!r} is not a size; write it as 1300MB or 4GiB")
    return size
