"""Durable structured concurrency on PostgreSQL."""

from catchment.client.app import App
from catchment.client.sync import SyncClient
from catchment.errors import (
    CatchmentError,
    ClaimLost,
    CommandTaken,
    DefinitionRefused,
    GiveUp,
    NotRetryable,
    PayloadInvalid,
    PayloadRefused,
    RequestRefused,
    ResultMissing,
    ResultTimeout,
    RetryLater,
    SchemaMismatch,
    ScopeClosed,
    ServerUnavailable,
    SurfaceClosed,
    TaskCancelled,
    TaskFailed,
    TaskNotFound,
    TaskWasCancelled,
    TooDeep,
    UnknownCommand,
    UnknownQueue,
)
from catchment.model.state import TaskState
from catchment.model.task import TaskId, TaskInfo
from catchment.task.child import Child
from catchment.task.command import Command
from catchment.task.context import Context
from catchment.task.limit import Limit
from catchment.task.options import Retry

__version__ = "0.1.0"

__all__ = [
    "App",
    "CatchmentError",
    "Child",
    "ClaimLost",
    "Command",
    "CommandTaken",
    "Context",
    "DefinitionRefused",
    "GiveUp",
    "Limit",
    "NotRetryable",
    "PayloadInvalid",
    "PayloadRefused",
    "RequestRefused",
    "ResultMissing",
    "ResultTimeout",
    "Retry",
    "RetryLater",
    "SchemaMismatch",
    "ScopeClosed",
    "ServerUnavailable",
    "SurfaceClosed",
    "SyncClient",
    "TaskCancelled",
    "TaskFailed",
    "TaskId",
    "TaskInfo",
    "TaskNotFound",
    "TaskState",
    "TaskWasCancelled",
    "TooDeep",
    "UnknownCommand",
    "UnknownQueue",
    "__version__",
]
