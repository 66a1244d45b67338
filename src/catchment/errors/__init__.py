"""Every error Catchment raises, as one tree.

CatchmentError
├── RequestRefused              a caller can change the request
│   ├── CommandNotRegistered    CM002
│   ├── QueueNotRegistered      CM003
│   ├── PayloadRefused          CM004
│   │   └── ArgumentsInvalid    CM019
│   ├── MergeRefused            CM020
│   ├── OptionInvalid           CM018
│   ├── LimitRefused            CM024
│   ├── ScopeClosed             CM005
│   ├── ChildrenUnsettled       CM023
│   ├── ParentMissing           CM021
│   ├── ScopePolicyFixed        CM022
│   ├── TooDeep                 CM006
│   ├── WriteRefused            CM007
│   ├── NestedRun               CM025
│   ├── NotRetryable            CM008
│   ├── TaskMerged              CM026
│   ├── TaskNotFound            CM009
│   ├── LaneNotHalted           CM027
│   ├── ScheduleRefused         CM016
│   ├── NameTaken               CM013
│   ├── InfoRefused             CM028
│   ├── TransactionEndRefused   CM036
│   ├── SnoozeRefused           CM040
│   └── OutsideHandler          CM042
├── DefinitionRefused           a command cannot be defined as written
├── ResultMissing               there is no result to return
│   ├── TaskFailed
│   ├── TaskCancelled
│   └── ResultTimeout           also a TimeoutError
├── ValueUnreadable             a value of a task that Python cannot read
├── Steering                    raised by a handler to say what happens next
│   ├── RetryLater
│   └── GiveUp
│       └── ResultRefused       by the worker: a result cannot be stored, or read by a join
├── ClaimLost                   CM001  a worker must drop its result
├── WorkerNotRegistered         CM017  it was declared dead and registers again
├── CancelRequested             CM011  a handler should stop
├── ProcedureMissing            CM012
├── ExtraMissing                an optional part is not installed; also an ImportError
├── SchemaMismatch              the database and this version do not fit
├── LakeError                   dynamic tables; has a code
│   ├── TableRefused            a definition cannot be carried out
│   │   ├── TableExists         CM014
│   │   ├── TableInUse          CM029
│   │   ├── TableBusy           CM030
│   │   └── SourceSuspended     CM031
│   ├── TableNotFound           there is no such dynamic table
│   ├── SourceChanged           a table that is read went, or lost a column
│   ├── LakeUnavailable         catalog, storage or extensions cannot be used
│   ├── LakeOutOfMemory         a query does not fit into memory
│   ├── LakeDiskFull            no space for data or for spilling
│   ├── LakeInterrupted         a query was stopped from outside
│   ├── SnapshotExpired         a version of the lake is gone
│   ├── CommitConflict          another commit came first
│   ├── PublishVetoed           CM015  the attempt is no longer the one that may publish
│   └── RefreshTimeout          a refresh is not over yet; also a TimeoutError
└── ServerUnavailable           no PostgreSQL could be reached or started
    └── OutcomeUnknown          a call may or may not have taken effect

Besides, Snoozed ends an attempt. It is no error, and no Exception: handlers that catch those must not catch it.
"""

from catchment.errors.attempts import (
    CancelRequested,
    ClaimLost,
    GiveUp,
    ProcedureMissing,
    ResultRefused,
    RetryLater,
    Snoozed,
    Steering,
    WorkerNotRegistered,
)
from catchment.errors.base import (
    LONGEST,
    CatchmentError,
    DefinitionRefused,
    ExtraMissing,
    OutcomeUnknown,
    RequestRefused,
    SchemaMismatch,
    ServerUnavailable,
    a_kind,
    shown,
)
from catchment.errors.lake import (
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
from catchment.errors.requests import (
    ArgumentsInvalid,
    ChildrenUnsettled,
    CommandNotRegistered,
    InfoRefused,
    LaneNotHalted,
    LimitRefused,
    MergeRefused,
    NameTaken,
    NestedRun,
    NotRetryable,
    OptionInvalid,
    OutsideHandler,
    ParentMissing,
    PayloadRefused,
    QueueNotRegistered,
    ScheduleRefused,
    ScopeClosed,
    ScopePolicyFixed,
    SnoozeRefused,
    TaskMerged,
    TaskNotFound,
    TooDeep,
    TransactionEndRefused,
    WriteRefused,
)
from catchment.errors.results import ResultMissing, ResultTimeout, TaskCancelled, TaskFailed, ValueUnreadable
from catchment.errors.sqlstates import BY_SQLSTATE

__all__ = [
    "BY_SQLSTATE",
    "LONGEST",
    "ArgumentsInvalid",
    "CancelRequested",
    "CatchmentError",
    "ChildrenUnsettled",
    "ClaimLost",
    "CommandNotRegistered",
    "CommitConflict",
    "DefinitionRefused",
    "ExtraMissing",
    "GiveUp",
    "InfoRefused",
    "LakeDiskFull",
    "LakeError",
    "LakeInterrupted",
    "LakeOutOfMemory",
    "LakeUnavailable",
    "LaneNotHalted",
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
    "PublishVetoed",
    "QueueNotRegistered",
    "RefreshTimeout",
    "RequestRefused",
    "ResultMissing",
    "ResultRefused",
    "ResultTimeout",
    "RetryLater",
    "ScheduleRefused",
    "SchemaMismatch",
    "ScopeClosed",
    "ScopePolicyFixed",
    "ServerUnavailable",
    "SnapshotExpired",
    "SnoozeRefused",
    "Snoozed",
    "SourceChanged",
    "SourceSuspended",
    "Steering",
    "TableBusy",
    "TableExists",
    "TableInUse",
    "TableNotFound",
    "TableRefused",
    "TaskCancelled",
    "TaskFailed",
    "TaskMerged",
    "TaskNotFound",
    "TooDeep",
    "TransactionEndRefused",
    "ValueUnreadable",
    "WorkerNotRegistered",
    "WriteRefused",
    "a_kind",
    "shown",
]
