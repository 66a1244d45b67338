"""Settings of a worker from the environment. A value that cannot be read stops the start with a reason."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from catchment.model.settings import Settings, also
from catchment.runtime.options import WorkerOptions

# Larger values would overflow numbers of PostgreSQL or timers of Python.
Count = Annotated[int, Field(le=1_000_000)]
Milliseconds = Annotated[int, Field(le=1_000_000_000)]
LogFormat = Literal["text", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]
Seconds = Annotated[float, Field(le=1_000_000, allow_inf_nan=False)]


class WorkerSettings(Settings):
    """Settings of ``catchment worker``."""

    max_concurrent_tasks: Count = Field(
        1000,
        ge=1,
        validation_alias=also("MAX_CONCURRENT_TASKS"),
        description="Maximum number of Python tasks that the process holds.",
    )
    claim_batch_size: Count = Field(
        50,
        ge=1,
        validation_alias=also("CLAIM_BATCH_SIZE"),
        description="Size of the first claim; claims grow to 500 tasks while tasks are short.",
    )
    claim_ahead: Count = Field(
        0, ge=0, description="Tasks claimed in addition to the running ones, so that no slot waits."
    )
    poll_interval_ms: Milliseconds = Field(
        100,
        ge=1,
        validation_alias=also("POLL_INTERVAL_MS"),
        description="Polling interval while notifications cannot arrive.",
    )
    idle_poll_ms: Milliseconds = Field(
        600_000,
        ge=1,
        description="Polling interval while notifications can arrive; a heartbeat finds the work of a lost one.",
    )
    wake_ups: bool = Field(
        True, description="Listen for notifications; disable it where a connection cannot receive them."
    )
    session_lock: bool = Field(
        True,
        description="Prove liveness by a session lock; disable it behind a transaction pooler.",
    )
    latency_threshold_ms: Milliseconds = Field(
        30_000, ge=1, description="Claims shrink by 30 % while the 99th percentile of a command is above this."
    )
    worker_threads: Count = Field(32, ge=1, description="Threads for handlers that are plain functions.")
    worker_processes: int | None = Field(
        None, ge=1, le=1_000_000, description="Processes for CPU-bound handlers. Defaults to all cores."
    )
    give_back_seconds: Seconds = Field(
        10, gt=0, description="A claimed task that cannot start within this time is released."
    )
    max_result_bytes: int = Field(
        16 * 1024 * 1024, ge=1, le=2**30, description="Maximum size of a result or an info, in bytes of JSON."
    )
    stop_grace_seconds: Seconds = Field(
        10, ge=0, description="A handler that still runs this long after it was stopped is abandoned."
    )
    lease_seconds: Seconds = Field(
        15,
        gt=1,
        description="Time after which a silent worker counts as dead. Heartbeats are sent three times as often.",
    )
    stall_seconds: Seconds = Field(
        300, ge=1, description="A worker whose event loop is blocked for this long counts as dead."
    )
    shutdown_grace_seconds: Seconds = Field(
        30, ge=0, description="Time that running handlers get to finish at shutdown."
    )
    transaction_connections: Count = Field(4, ge=1, description="Connections for handlers in ctx.transaction().")
    transaction_limit_seconds: Seconds = Field(
        30, gt=0, description="Maximum duration of a statement and of a pause in ctx.transaction()."
    )
    hook_limit_seconds: Seconds = Field(30, gt=0, description="Maximum duration of an after hook.")
    metrics_port: int | None = Field(
        None,
        ge=0,
        le=65535,
        validation_alias=also("METRICS_PORT"),
        description="Port for Prometheus. Defaults to none; 0 selects a free one.",
    )
    metrics_host: str = Field("127.0.0.1", description="Address that port is bound to.")
    health_port: int | None = Field(
        None,
        ge=0,
        le=65535,
        description="Port for /healthz and /readyz. Defaults to none; 0 selects a free one.",
    )
    health_host: str = Field("127.0.0.1", description="Address that the health port is bound to.")
    log_format: LogFormat = Field("text", description="Log format of workers: lines for people, or JSON objects.")
    log_level: LogLevel = Field("info", description="Log level of workers; debug includes the start of each task.")


def read_options(**given: Any) -> WorkerOptions:
    """Options from the environment, and from those given."""
    settings = WorkerSettings.read()
    defaults: dict[str, Any] = {
        "max_concurrent_tasks": settings.max_concurrent_tasks,
        "claim_batch_size": settings.claim_batch_size,
        "claim_ahead": settings.claim_ahead,
        "poll_interval": timedelta(milliseconds=settings.poll_interval_ms),
        "idle_poll": timedelta(milliseconds=settings.idle_poll_ms),
        "has_wake_ups": settings.wake_ups,
        "has_session_lock": settings.session_lock,
        "latency_threshold": timedelta(milliseconds=settings.latency_threshold_ms),
        "threads": settings.worker_threads,
        "give_back": timedelta(seconds=settings.give_back_seconds),
        "max_result_bytes": settings.max_result_bytes,
        "stop_grace": timedelta(seconds=settings.stop_grace_seconds),
        "lease": timedelta(seconds=settings.lease_seconds),
        "stall_limit": timedelta(seconds=settings.stall_seconds),
        "shutdown_grace": timedelta(seconds=settings.shutdown_grace_seconds),
        "transactions": settings.transaction_connections,
        "transaction_limit": timedelta(seconds=settings.transaction_limit_seconds),
        "hook_limit": timedelta(seconds=settings.hook_limit_seconds),
        "metrics_port": settings.metrics_port,
        "metrics_host": settings.metrics_host,
        "health_port": settings.health_port,
        "health_host": settings.health_host,
    }
    if settings.worker_processes is not None:
        defaults["processes"] = settings.worker_processes
    return WorkerOptions(**defaults | given)
