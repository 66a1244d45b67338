"""Durable structured concurrency on PostgreSQL."""

from catchment.errors import (
    CatchmentError,
    ClaimLost,
    NotRetryable,
    PayloadRefused,
    SchemaMismatch,
    ScopeClosed,
    SurfaceClosed,
    TaskCancelled,
    TaskNotFound,
    TooDeep,
    UnknownCommand,
    UnknownQueue,
)
from catchment.model.state import TaskState

__version__ = "0.1.0"

__all__ = [
    "CatchmentError",
    "ClaimLost",
    "NotRetryable",
    "PayloadRefused",
    "SchemaMismatch",
    "ScopeClosed",
    "SurfaceClosed",
    "TaskCancelled",
    "TaskNotFound",
    "TaskState",
    "TooDeep",
    "UnknownCommand",
    "UnknownQueue",
    "__version__",
]
