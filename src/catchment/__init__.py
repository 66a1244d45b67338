"""Durable structured concurrency on PostgreSQL.

A command is a function, a task is a request to run it, and a worker runs it (``catchment worker --app module:app``)::

    import catchment

    app = catchment.App()


    @app.command(queue="mail", max_attempts=5)
    async def send(to: str, body: str = "") -> int:
        return len(body)


    async def main() -> None:
        async with app:
            task = await send.using(lane="order-17").enqueue(to="a@example.org")
            print(await task.result(timeout=10))
"""

from typing import TYPE_CHECKING

from catchment.errors import (
    ArgumentsInvalid,
    CancelRequested,
    CatchmentError,
    ChildrenUnsettled,
    ClaimLost,
    CommandNotRegistered,
    DefinitionRefused,
    ExtraMissing,
    GiveUp,
    InfoRefused,
    LaneNotHalted,
    LimitRefused,
    MergeRefused,
    NameTaken,
    NestedRun,
    NotRetryable,
    OptionInvalid,
    OutcomeUnknown,
    OutsideHandler,
    ParentMissing,
    PayloadRefused,
    ProcedureMissing,
    QueueNotRegistered,
    RequestRefused,
    ResultMissing,
    ResultRefused,
    ResultTimeout,
    RetryLater,
    ScheduleRefused,
    SchemaMismatch,
    ScopeClosed,
    ScopePolicyFixed,
    ServerUnavailable,
    Snoozed,
    SnoozeRefused,
    TaskCancelled,
    TaskFailed,
    TaskMerged,
    TaskNotFound,
    TooDeep,
    TransactionEndRefused,
    ValueUnreadable,
    WorkerNotRegistered,
    WriteRefused,
)
from catchment.lazy import lazy_names
from catchment.model.release import VERSION

if TYPE_CHECKING:
    from catchment.client.app import App
    from catchment.client.sync import SyncClient
    from catchment.model.state import TaskState
    from catchment.model.task import TaskId, TaskInfo
    from catchment.model.why import Condition, Why
    from catchment.store.connect import connect
    from catchment.store.migrate import migrate
    from catchment.task.child import Child
    from catchment.task.command import Command
    from catchment.task.context import Context
    from catchment.task.handle import SyncTask, Task
    from catchment.task.item import Item
    from catchment.task.limit import Limit
    from catchment.task.log_filter import TaskFilter
    from catchment.task.options import Retry
    from catchment.task.request import Request, SyncRequest
else:
    # Those that need the driver or pydantic.
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "App": "client.app",
            "Child": "task.child",
            "Command": "task.command",
            "Condition": "model.why",
            "Context": "task.context",
            "Item": "task.item",
            "Limit": "task.limit",
            "Request": "task.request",
            "Retry": "task.options",
            "SyncClient": "client.sync",
            "SyncRequest": "task.request",
            "SyncTask": "task.handle",
            "Task": "task.handle",
            "TaskFilter": "task.log_filter",
            "TaskId": "model.task",
            "TaskInfo": "model.task",
            "TaskState": "model.state",
            "Why": "model.why",
            "connect": "store.connect",
            "migrate": "store.migrate",
        },
    )

__version__ = VERSION

__all__ = [
    "App",
    "ArgumentsInvalid",
    "CancelRequested",
    "CatchmentError",
    "Child",
    "ChildrenUnsettled",
    "ClaimLost",
    "Command",
    "CommandNotRegistered",
    "Condition",
    "Context",
    "DefinitionRefused",
    "ExtraMissing",
    "GiveUp",
    "InfoRefused",
    "Item",
    "LaneNotHalted",
    "Limit",
    "LimitRefused",
    "MergeRefused",
    "NameTaken",
    "NestedRun",
    "NotRetryable",
    "OptionInvalid",
    "OutcomeUnknown",
    "OutsideHandler",
    "ParentMissing",
    "PayloadRefused",
    "ProcedureMissing",
    "QueueNotRegistered",
    "Request",
    "RequestRefused",
    "ResultMissing",
    "ResultRefused",
    "ResultTimeout",
    "Retry",
    "RetryLater",
    "ScheduleRefused",
    "SchemaMismatch",
    "ScopeClosed",
    "ScopePolicyFixed",
    "ServerUnavailable",
    "SnoozeRefused",
    "Snoozed",
    "SyncClient",
    "SyncRequest",
    "SyncTask",
    "Task",
    "TaskCancelled",
    "TaskFailed",
    "TaskFilter",
    "TaskId",
    "TaskInfo",
    "TaskMerged",
    "TaskNotFound",
    "TaskState",
    "TooDeep",
    "TransactionEndRefused",
    "ValueUnreadable",
    "Why",
    "WorkerNotRegistered",
    "WriteRefused",
    "__version__",
    "connect",
    "migrate",
]
