"""Requests that are refused. The engine raises most of them, with a code."""

from __future__ import annotations

from catchment.errors.base import RequestRefused


class CommandNotRegistered(RequestRefused):
    """``CM002``: no such command is registered. Start a worker with the app that defines it, or call
    ``app.register()``; ``catchment command list`` shows all commands.

    This error is also raised if a command of the app is not registered and this user may not register it.
    """


class QueueNotRegistered(RequestRefused):
    """``CM003``: no such queue is registered. Register it: ``catchment queue list`` shows all queues."""


class PayloadRefused(RequestRefused):
    """``CM004``: the payload cannot be stored. It is not a JSON object, is larger than 16 MiB as text, or
    contains a value that PostgreSQL cannot store. Wrap other values in an object; store large data elsewhere and pass
    its key."""


class ArgumentsInvalid(PayloadRefused):
    """``CM019``: the arguments do not fit the command. The message names the command, the parameters and the reasons,
    never the payload."""


class MergeRefused(RequestRefused):
    """``CM020``: a value does not fit its merge rule. The message has both values; the rule is in
    ``worker.command_registry.merge``."""


class OptionInvalid(RequestRefused):
    """``CM018``: an option has an invalid value. For example a lane that is empty or longer than 500 characters, a
    trace longer than 200, a time outside the years 1 to 9999, or an unknown mode or policy. The message has the value
    and what is expected."""


class LimitRefused(RequestRefused):
    """``CM024``: a command with a limit per key cannot use a lane. A serial scope counts as a lane. Limit the queue
    instead, or move the limited part into a separate command."""


class ScopeClosed(RequestRefused):
    """``CM005``: the parent accepts no more children. It has settled, its scope has closed, its join is running, or its
    handler runs in another session. Spawn from the handler of the task or of one of its children; enqueue what is
    independent."""


class ChildrenUnsettled(RequestRefused):
    """``CM023``: a child has not settled. Until it has, its parent can neither settle nor be deleted."""


class ParentMissing(RequestRefused):
    """``CM021``: there is no parent task. A child was spawned outside a handler, or a sibling of a task without a
    parent. Pass the parent, or enqueue an independent task."""


class ScopePolicyFixed(RequestRefused):
    """``CM022``: the scope has another policy. The first spawn of a handler fixes child mode and
    ``on_child_failure``."""


class TooDeep(RequestRefused):
    """``CM006``: the child would be too deep. The queue limits the depth of a tree: spawn a sibling, or raise
    ``max_depth`` of the queue (null: any depth)."""


class WriteRefused(RequestRefused):
    """``CM007``: ``worker.tasks`` does not accept this write. The message names what is allowed, or the function to
    use."""


class NestedRun(RequestRefused):
    """``CM025``: a handler cannot run other tasks. ``process_tasks`` was called in a handler. Spawn the tasks: they
    run when the handler has returned."""


class NotRetryable(RequestRefused):
    """``CM008``: the task cannot be retried. It has not failed and was not cancelled, or it must be retried with one
    of its ancestors, which the hint names."""


class TaskMerged(RequestRefused):
    """``CM026``: the task was merged into another. It settles with that task, which the hint names: cancel
    that one instead."""


class SnoozeRefused(RequestRefused):
    """``CM040``: the time to sleep is invalid. Pass a time, or a delay that is not negative, within 100 years."""


class OutsideHandler(RequestRefused):
    """``CM042``: the session is not running a handler. There is no task to snooze or to follow up:
    enqueue an independent one."""


class TaskNotFound(RequestRefused):
    """``CM009``: there is no such task. It was never created, is not committed yet, or was deleted when
    its retention period ended."""


class LaneNotHalted(RequestRefused):
    """``CM027``: the lane is not halted. There is no failed task to skip: ``catchment lane list`` shows
    halted lanes."""


class ScheduleRefused(RequestRefused):
    """``CM016``: the schedule could never fire. Its interval is below a second or above 100 years, its cron expression
    is invalid or matches no day, or the server does not know its time zone."""


class TransactionEndRefused(RequestRefused):
    """``CM036``: a handler cannot end its transaction. It tried to commit or roll back in ``ctx.transaction()``, which
    the worker ends: the attempt fails, and nothing of the transaction is written. Return from the handler to commit.

    A handler that closes the guard of its transaction in libpq can commit: then the message says that its writes
    stay."""


class NameTaken(RequestRefused):
    """``CM013``: the name is taken. A command of this name has another kind of handler, or a queue of this name
    another mode. Rename yours, or delete the row from the registry; to enqueue a SQL command from Python, pass its
    name. On the embedded server, another project may use the command: set ``CATCHMENT_DATA`` to give your project a
    separate server."""


class InfoRefused(RequestRefused):
    """``CM028``: the info cannot be stored. It is larger than 16 MiB as text, or not JSON. Store the data in a table
    and put its key in the info."""
