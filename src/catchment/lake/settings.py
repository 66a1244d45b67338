"""Settings of the lake from the environment. A value that cannot be read is refused with its name and the reason.

What SQL needs (failures that suspend a table, the time that history is kept, when a table is compacted) are columns of
``lake.lake`` instead; some of them get their first value from here.
"""

from __future__ import annotations

import os
import tempfile
from typing import Literal

from pydantic import Field, SecretStr, field_validator

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
        description="Off: no table is ever refreshed by several tasks.",
    )
    parallel_min_affected_keys: int = Field(
        10_000_000,
        ge=0,
        validation_alias=also("PARALLEL_MIN_AFFECTED_KEYS"),
        description="Keys from which a refresh is spread.",
    )
    parallel_max_workers: int = Field(
        16,
        ge=1,
        validation_alias=also("PARALLEL_MAX_WORKERS"),
        description="Subtasks of one refresh that run at a time.",
    )
    parallel_timeout_seconds: float = Field(
        3600, gt=0, validation_alias=also("PARALLEL_TIMEOUT_SECONDS"), description="Deadline of a refresh."
    )
    parallel_keys_per_worker: int = Field(5_000_000, ge=1, description="Keys that keep one worker busy.")
    parallel_min_seconds: float = Field(10, ge=0, description="A refresh expected to take less is never spread.")
    parallel_max_single_seconds: float = Field(60, ge=0, description="One expected to take longer always is.")
    parallel_memory_share: float = Field(
        0.6, gt=0, le=1, description="Share of the memory limit above which the expected need spreads a refresh."
    )
    parallel_buckets_per_worker: int = Field(4, ge=1, description="Subtasks for each worker, for evenness.")
    parallel_keys_per_bucket: int = Field(1_000_000, ge=1, description="Keys of a subtask at most, if possible.")
    parallel_min_buckets: int = Field(8, ge=1, le=256, description="Subtasks of a spread refresh at least.")
    parallel_max_buckets: int = Field(256, ge=1, le=256, description="Subtasks of a spread refresh at most.")
    parallel_max_retries: int = Field(3, ge=0, description="Times that a subtask is tried again.")
    parallel_no_progress_seconds: float = Field(
        600, gt=0, description="A spread refresh in which no subtask starts or ends for so long is given up."
    )

    lake_memory_limit: str | None = Field(
        None,
        description="Memory of DuckDB in this process, such as 1300MB. Defaults to 60 % of the memory of the machine.",
    )
    lake_threads: int | None = Field(None, ge=1, description="Threads of DuckDB in this process; default: all cores.")
    lake_temp_directory: str | None = Field(
        None, description="Where DuckDB keeps what does not fit into memory; default: the system's folder for that."
    )
    lake_full_above: float = Field(0.3, gt=0, le=1, description="Share of keys above which a refresh is full.")
    lake_small_ms: float = Field(300, ge=0, description="A full refresh expected to take less is not avoided.")
    lake_rewrite_above: float = Field(
        0.3, gt=0, le=1, description="Share of deleted rows above which a bucket is rewritten."
    )
    lake_wholesale_above: float = Field(
        0.5, gt=0, le=1, description="Share of changed rows above which a whole table is rewritten."
    )
    lake_rows_per_bucket: int = Field(500_000, ge=1, description="Rows of a storage bucket, about.")
    lake_compact_files: int = Field(64, ge=2, description="Files from which a table is compacted, set at installation.")
    lake_compact_deletes: float = Field(
        0.3, gt=0, le=1, description="Share of deleted rows from which it is, set at installation."
    )
    lake_artifact_grace_seconds: float = Field(
        60, ge=0, description="Files of an interrupted attempt are looked for again after this time."
    )
    lake_history_days: int = Field(30, ge=1, description="Time that refreshes are remembered, set at installation.")
    lake_expire_days: float = Field(
        0,
        ge=0,
        description="Snapshots older than this that nothing needs go daily, set at installation; 0: never.",
    )
    lake_orphan_days: float = Field(
        0,
        ge=0,
        description="Files older than this that no table has go daily, set at installation; 0: never.",
    )
    lake_executor: Literal["worker", "ray"] = Field(
        "worker",
        description="Where subtasks of a refresh are computed, unless the lake or the table says: worker, or ray.",
    )
    lake_ray_tasks: int = Field(
        8, ge=1, le=1000, description="With ray: subtasks that a worker process has on the cluster at a time."
    )
    lake_ray_cpus: int = Field(1, ge=1, description="Threads of a subtask on the cluster, and CPUs that it reserves.")
    lake_ray_memory: str = Field("2GB", description="Memory of a subtask on the cluster, which it reserves.")
    lake_audit_every: int = Field(0, ge=0, description="Audit a table after this many refreshes; 0: never.")

    s3_key_id: str | None = Field(None, description="Access key of the bucket.")
    s3_secret: SecretStr | None = Field(None, description="Secret of that key.")
    s3_region: str | None = Field(None, description="Region of the bucket.")
    s3_endpoint: str | None = Field(None, description="host:port of a store other than Amazon's.")
    s3_url_style: Literal["vhost", "path"] = Field("vhost", description="How the store wants URLs.")
    s3_use_ssl: bool = Field(True, description="Off for a store without TLS.")

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
    """``1300MB`` as a number of bytes; raises ``ValueError``."""
    number = text.strip().rstrip("BbIiKkMmGgTt ")
    unit = text.strip()[len(number) :].strip().lower()
    try:
        return int(float(number) * (_UNITS[unit] if unit else 1))
    except (ValueError, KeyError):
        raise ValueError(f"{text!r} is no size; write it as 1300MB or 4GiB") from None
