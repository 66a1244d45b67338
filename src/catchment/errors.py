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

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

LONGEST = timedelta(days=36_525)
"""Longer spans leave the range of PostgreSQL's intervals, or of a timer; nobody means them."""


def shown(value: object) -> str:
    """A value as a message shows it: at most 100 characters. Python refuses to write some numbers."""
    try:
        text = repr(value)
    except Exception:
        return "a number of thousands of digits" if isinstance(value, int) else f"of type {type(value).__name__}"
    return text if len(text) <= 100 else f"{text[:99]}…"


def a_kind(value: object) -> str:
    """What a value is, for a message that does not show it: its type with an article, or ``None``."""
    kind = type(value).__name__
    return "None" if value is None else f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


class CatchmentError(Exception):
    """Base of all errors. ``hint`` says what to do next, or is None."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class RequestRefused(CatchmentError):
    """Base of what a caller can change about a request. Nothing has happened."""


class CommandNotRegistered(RequestRefused):
    """``CM002``: no such command is registered. Start a worker with the app that defines it, or call
    ``app.register()``; ``catchment command list`` shows what there is.

    Also: a command of the app is not registered, and this user may not register it.
    """


class QueueNotRegistered(RequestRefused):
    """``CM003``: no such queue is registered. Register it: ``catchment queue list`` shows what there is."""


class PayloadRefused(RequestRefused):
    """``CM004``: the payload cannot be stored. It is not an object, larger than 16 MiB as text, or JSON that PostgreSQL
    cannot hold. Wrap it; store large data elsewhere and pass its key."""


class ArgumentsInvalid(PayloadRefused):
    """``CM019``: the arguments do not fit the command. The message names the command, the parameters and the reasons,
    never the payload."""


class MergeRefused(RequestRefused):
    """``CM020``: a value does not fit its merge rule. The message has both values; the rule is in
    ``worker.command_registry.merge``."""


class OptionInvalid(RequestRefused):
    """``CM018``: an option has an invalid value. A lane that is empty or longer than 500 characters, a trace longer
    than 200, a time outside the years 1 to 9999, an unknown mode or policy. The message has the value and what is
    expected."""


class LimitRefused(RequestRefused):
    """``CM024``: a command with a limit per key takes no lane. A serial scope is one too. Limit the queue instead, or
    give the limited part a command of its own."""


class ScopeClosed(RequestRefused):
    """``CM005``: the parent takes no more children. It has settled, its scope has closed, its join is running, or its
    handler runs in another session. Spawn from the handler of the task or of one of its children; enqueue what is
    independent."""


class ChildrenUnsettled(RequestRefused):
    """``CM023``: a child has not settled. Until it has, its parent can neither settle nor be deleted."""


class ParentMissing(RequestRefused):
    """``CM021``: there is no task to belong to. A spawn outside a handler, or a sibling of a task without parent. Pass
    the parent, or enqueue an independent task."""


class ScopePolicyFixed(RequestRefused):
    """``CM022``: the scope has another policy. The first spawn of a handler fixes child mode and
    ``on_child_failure``."""


class TooDeep(RequestRefused):
    """``CM006``: the child would be too deep. Deeper below its root than the queue allows: spawn a sibling, or raise
    ``max_depth`` of the queue (null: any depth)."""


class WriteRefused(RequestRefused):
    """``CM007``: ``worker.tasks`` does not take this write. The message names what is allowed, or the function to
    use."""


class NestedRun(RequestRefused):
    """``CM025``: a handler cannot run other tasks. ``process_tasks`` was called in one: spawn them, and they run when
    the handler has returned."""


class NotRetryable(RequestRefused):
    """``CM008``: the task cannot be retried. It is in no state for it, or not by itself: the hint names the task to
    retry."""


class TaskMerged(RequestRefused):
    """``CM026``: the task was merged into another. It settles with that one: cancel the one that the hint names."""


class SnoozeRefused(RequestRefused):
    """``CM040``: a task cannot sleep that long. Pass a time, or a delay that is not negative, within 100 years."""


class OutsideHandler(RequestRefused):
    """``CM042``: no handler is running here. There is no task to snooze or to follow: enqueue an independent one."""


class TaskNotFound(RequestRefused):
    """``CM009``: there is no such task. Not yet committed, deleted after its time, or never made."""


class LaneNotHalted(RequestRefused):
    """``CM027``: the lane is not halted. There is nothing to skip: ``catchment lane list`` shows the lanes that are."""


class ScheduleRefused(RequestRefused):
    """``CM016``: the schedule could never fire. Its interval is below a second or above 100 years, its cron expression
    is invalid or matches no day, or the server does not know its time zone."""


class TransactionEndRefused(RequestRefused):
    """``CM036``: a handler cannot end its transaction. It tried to commit or roll back in ``ctx.transaction()``, which
    the worker ends: the attempt fails, and nothing of the transaction is written. Return from the handler to commit."""


class NameTaken(RequestRefused):
    """``CM013``: the name is taken. A command of this name has another kind of handler, or a queue another mode. Rename
    yours, or delete the row from the registry; to enqueue a SQL command from Python, pass its name. Or another project
    uses the command on the embedded server: set ``CATCHMENT_DATA`` to give yours a server."""


class InfoRefused(RequestRefused):
    """``CM028``: the info cannot be stored. It is larger than 16 MiB as text, or no JSON. Store the data in a table and
    put its key in the info."""


class DefinitionRefused(CatchmentError):
    """A command, its options or its join cannot be defined as written."""


class ResultMissing(CatchmentError):
    """Base of the next three: a task has no result. Has ``task_id`` and ``command``."""

    def __init__(self, message: str, *, task_id: int, command: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.task_id = task_id
        self.command = command


class TaskFailed(ResultMissing):
    """The task whose result was asked for has failed: ``kind``, ``message``, and all that is stored in ``error``.

    If it failed by its children, ``child`` is the error of the one that explains it, at whatever depth: the
    ``TaskFailed`` of a failed child, or the ``TaskCancelled`` of a cancelled one. It is the ``__cause__`` too.
    Otherwise it is None.
    """

    def __init__(self, task_id: int, command: str, error: Mapping[str, Any], *, root_id: int | None = None) -> None:
        self.error = dict(error)
        self.kind = str(error.get("kind", "error"))
        self.message = str(error.get("message", ""))
        root_id = task_id if root_id is None else root_id
        self.child = _error_of_child(error.get("child"), root_id)
        shown_id = task_id if self.child is None else self.child.task_id
        super().__init__(
            f"task {task_id} ({command}) failed with {self.kind}: {self.message}",
            task_id=task_id,
            command=command,
            hint=f"'catchment task show {shown_id}' has the attempts; 'catchment task retry {root_id}' runs it again.",
        )
        self.__cause__ = self.child


class TaskCancelled(ResultMissing):
    """The task whose result was asked for was cancelled, and ``reason`` says why."""

    def __init__(self, task_id: int, command: str, reason: str) -> None:
        super().__init__(f"task {task_id} ({command}) was cancelled: {reason}", task_id=task_id, command=command)
        self.reason = reason


def _error_of_child(child: Any, root_id: int) -> TaskFailed | TaskCancelled | None:
    try:
        task_id, command = int(child["id"]), str(child["command"])
        if child["kind"] == "cancelled":
            return TaskCancelled(task_id, command, str(child["message"]))
        return TaskFailed(task_id, command, {"kind": child["kind"], "message": child["message"]}, root_id=root_id)
    except (TypeError, KeyError, ValueError):  # a handler may store any error by worker.fail_task
        return None


class ResultTimeout(ResultMissing, TimeoutError):
    """The task did not settle in time; ``state`` is where it stood. It goes on. Also a ``TimeoutError``.

    If nothing can run it now, the message says why, and ``hint`` what to do: no live worker has its command, its queue
    is paused, or its lane is halted. If the server has stopped answering, ``state`` is the last one that was seen.
    Without any answer it is ``unknown``, and ``command`` is empty.
    """

    def __init__(
        self,
        task_id: int,
        command: str,
        state: str,
        waited: timedelta,
        *,
        is_answered: bool = True,
        reason: str | None = None,
        hint: str | None = None,
    ) -> None:
        task = f"task {task_id} ({command})" if command else f"task {task_id}"
        time = f"{waited.total_seconds():g} s"
        if not is_answered:
            message = f"no answer from the server about {task} after {time}, its last known state is {state}"
            hint = "Check the network between here and the server. The task itself goes on."
        else:
            message = f"{task} is still {state} after {time}" + (f": {reason}" if reason else "")
            look = f"catchment task {'tree' if state == 'waiting' else 'show'} {task_id}"
            hint = hint or f"Wait longer, or see what it waits for: {look}"
        super().__init__(message, task_id=task_id, command=command, hint=hint)
        self.state = state


class ValueUnreadable(CatchmentError):
    """A payload or result is JSON that PostgreSQL holds and Python cannot read: a number with more digits than Python
    reads, or deep nesting. Has ``task_id`` and ``command``."""

    def __init__(self, message: str, *, task_id: int, command: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.task_id = task_id
        self.command = command


class Steering(CatchmentError):
    """Base of what a handler raises to say what happens to its task."""


class RetryLater(Steering):
    """Raised by a handler: fail this attempt and try again after ``delay`` (seconds, or a timedelta).

    It counts as a failed attempt: when ``max_attempts`` is used up, the task fails. With ``uses_attempt=False`` it does
    not: the task snoozes, as by ``ctx.snooze``, and can do so without end. A negative delay is zero. Raises
    ``RequestRefused`` for one that is not a number, or more than 100 years.
    """

    def __init__(self, delay: timedelta | float, reason: str = "", *, uses_attempt: bool = True) -> None:
        self.delay = _as_delay(delay)
        self.reason = _as_text(reason)
        if not isinstance(uses_attempt, bool):  # pyright: ignore[reportUnnecessaryIsInstance] - callers are not all typed
            raise RequestRefused(f"uses_attempt of a RetryLater is {shown(uses_attempt)}, expected True or False")
        self.uses_attempt = uses_attempt
        super().__init__(self.reason or f"to be tried again in {self.delay.total_seconds():g} s")


class GiveUp(Steering):
    """Raised by a handler: fail the task at once, whatever attempts it has left."""

    def __init__(self, reason: str) -> None:
        self.reason = _as_text(reason)
        super().__init__(self.reason)


class Snoozed(BaseException):
    """Raised by ``ctx.snooze`` and ``ctx.sleep_until``: the attempt ends here, and its task runs again later.

    Not an ``Exception``, so that ``except Exception`` in a handler does not catch it. It has ``delay``, or ``until``,
    and ``reason``.
    """

    def __init__(self, *, delay: timedelta | None = None, until: datetime | None = None, reason: str = "") -> None:
        self.delay = delay
        self.until = until
        self.reason = _as_text(reason)
        seconds = (delay or timedelta()).total_seconds()
        when = f"for {seconds:g} s" if until is None else f"until {until.isoformat()}"
        super().__init__(f"snoozes {when}" + (f": {self.reason}" if self.reason else ""))


def _as_delay(value: Any) -> timedelta:
    if isinstance(value, timedelta):
        span = value
    elif isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise RequestRefused(f"delay of a RetryLater is {shown(value)}, expected a number of seconds or a timedelta")
    else:
        try:
            span = timedelta(seconds=value)
        except OverflowError:
            span = timedelta.max if value > 0 else timedelta.min
    if span > LONGEST:
        raise RequestRefused(f"delay of a RetryLater is {shown(value)}, expected at most 100 years")
    return max(span, timedelta())


def _as_text(reason: Any) -> str:
    """A reason of any type: to refuse one would hide what went wrong, and retry what was given up."""
    try:
        return str(reason)
    except Exception:
        return shown(reason)


class ClaimLost(CatchmentError):
    """``CM001``: the claim was lost. Another attempt has taken over, or the task has settled: drop the result."""


class WorkerNotRegistered(CatchmentError):
    """``CM017``: the worker is not registered. It was declared dead, its claims are gone: it registers again."""


class CancelRequested(CatchmentError):
    """``CM011``: the task is being cancelled. It, or one above it: let the handler end."""


class ProcedureMissing(CatchmentError):
    """``CM012``: the handler procedure is missing or ambiguous. Create it with ``(jsonb)`` or ``(jsonb, inout jsonb)``,
    or write its arguments in the registry; then retry the task."""


class ExtraMissing(CatchmentError, ImportError):
    """An optional part of Catchment is not installed; ``hint`` has the command that installs it. Also an
    ``ImportError``."""


class SchemaMismatch(CatchmentError):
    """The schema in the database does not fit this version of Catchment, or belongs to another user. Run ``catchment
    migrate``, or upgrade the package."""


class LakeError(CatchmentError):
    """Base of what goes wrong with dynamic tables. ``code`` is stable; the reference lists all codes."""

    default_code = "INTERNAL"

    def __init__(self, message: str, *, code: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code or self.default_code


class TableRefused(LakeError):
    """A definition, a property or a change of a dynamic table cannot be carried out. Nothing has happened."""

    default_code = "REFUSED"


class TableExists(TableRefused):
    """``CM014``: a dynamic table of this name exists. Choose another name, replace it, or drop it first."""


class TableInUse(TableRefused):
    """``CM029``: other dynamic tables read it. Drop those first, or keep what they name."""


class TableBusy(TableRefused):
    """``CM030``: the dynamic table is being created, replaced or dropped. Wait for the end: ``catchment table
    list``."""


class SourceSuspended(TableRefused):
    """``CM031``: a table that it reads is suspended. Resume that one: those below it come with it."""


class TableNotFound(LakeError):
    """There is no dynamic table of this name."""

    default_code = "TABLE_MISSING"


class SourceChanged(LakeError):
    """A table that a dynamic table reads is gone, or lost a column, or its types no longer fit."""

    default_code = "SOURCE_MISSING"


class LakeUnavailable(LakeError):
    """The lake cannot be used: its catalog, its storage, or the DuckDB extensions that it needs."""

    default_code = "STORAGE"


class LakeOutOfMemory(LakeError):
    """A query needs more memory than ``LAKE_MEMORY_LIMIT`` allows."""

    default_code = "MEMORY"


class LakeDiskFull(LakeError):
    """There is no space left, for data files or for what DuckDB keeps on disk while it computes."""

    default_code = "DISK_FULL"


class LakeInterrupted(LakeError):
    """A query was stopped: its task is cancelled or past its deadline. The message says which."""

    default_code = "INTERRUPTED"


class SnapshotExpired(LakeError):
    """A version of the lake that a refresh needs does not exist any more."""

    default_code = "SNAPSHOT_EXPIRED"


class CommitConflict(LakeError):
    """Another commit to the lake came first. Nothing was written; the transaction can be done again."""

    default_code = "CONFLICT"


class PublishVetoed(LakeError):
    """``CM015``: the lake does not take this commit. Another attempt has taken the refresh over, the table has moved
    on, or a table would come or go unannounced. Drop the result: the newest attempt has the refresh."""

    default_code = "FENCED"


class RefreshTimeout(LakeError, TimeoutError):
    """Tables were not refreshed within the time that somebody was willing to wait. The refresh goes on."""

    default_code = "WAIT_TIMEOUT"


class ServerUnavailable(CatchmentError):
    """No PostgreSQL server could be reached or started."""


class OutcomeUnknown(ServerUnavailable):
    """The connection was lost during a call, or the server gave no answer for a minute: the call may or may not have
    taken effect.

    See what it has done before you repeat it.
    """


BY_SQLSTATE: Mapping[str, type[CatchmentError]] = {
    "CM001": ClaimLost,
    "CM002": CommandNotRegistered,
    "CM003": QueueNotRegistered,
    "CM004": PayloadRefused,
    "CM005": ScopeClosed,
    "CM006": TooDeep,
    "CM007": WriteRefused,
    "CM008": NotRetryable,
    "CM009": TaskNotFound,
    "CM011": CancelRequested,
    "CM012": ProcedureMissing,
    "CM013": NameTaken,
    "CM014": TableExists,
    "CM015": PublishVetoed,
    "CM016": ScheduleRefused,
    "CM017": WorkerNotRegistered,
    "CM018": OptionInvalid,
    "CM019": ArgumentsInvalid,
    "CM020": MergeRefused,
    "CM021": ParentMissing,
    "CM022": ScopePolicyFixed,
    "CM023": ChildrenUnsettled,
    "CM024": LimitRefused,
    "CM025": NestedRun,
    "CM026": TaskMerged,
    "CM027": LaneNotHalted,
    "CM028": InfoRefused,
    "CM029": TableInUse,
    "CM030": TableBusy,
    "CM031": SourceSuspended,
    "CM036": TransactionEndRefused,
    "CM040": SnoozeRefused,
    "CM042": OutsideHandler,
}
"""The class of each SQLSTATE that functions of the engine and of the lake raise. The first sentence of a class is what
its code means; every function that raises it says the same."""
