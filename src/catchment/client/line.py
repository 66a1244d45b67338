"""The line of the calls that make one task each: while one statement is under way, later calls gather, and go together
with the next. This part decides; it neither waits nor sends.

One of the calls leads: it sends those that have gathered, its own first, and hands over. Nothing waits for others to
come, so a call alone goes at once. Calls share a statement only while that changes nothing: if it fails, half of them
go with the next one, and in the end each by itself, with its own error.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

import psycopg

from catchment.errors import CatchmentError, OutcomeUnknown, ServerUnavailable
from catchment.model.task import TaskId
from catchment.store.direct import Answer
from catchment.store.enqueue import ids_of
from catchment.store.foreign.sender import Values

# Of one statement: with more, a task costs hardly less.
MOST_CALLS = 100
MOST_CHARACTERS = 256 * 1024

# What a statement itself raises, before it is sent or when it has been answered. Any other exception came from outside
# into the caller that leads.
OF_A_STATEMENT = (psycopg.Error, CatchmentError, UnicodeError)

LOST = "the connection to PostgreSQL was lost: the call may or may not have taken effect"
INTERRUPTED = "the statement was interrupted by the caller that sent it: the call may or may not have taken effect"
LOST_HINT = "See what the call has done before you repeat it: 'catchment task list'."


class Call:
    """A task to be made. ``outcome`` is its id, or the error of the call."""

    __slots__ = ("is_gone", "leads", "most", "outcome", "size", "values", "wake")

    def __init__(self, values: Values) -> None:
        self.values = values
        self.size = sum(len(value) for value in values if value is not None)
        self.most = MOST_CALLS
        self.leads = False
        self.is_gone = False
        self.outcome: TaskId | Exception | None = None
        # Called when it has an outcome, or leads.
        self.wake: Callable[[], None] | None = None


class Batch:
    """The calls of one statement, that of the leader first; none before there is a connection for it."""

    __slots__ = ("answer", "calls", "is_open", "leader")

    def __init__(self, leader: Call) -> None:
        self.leader = leader
        self.calls: list[Call] = []
        self.answer = Answer()
        # Was the connection open when the statement had ended?
        self.is_open = False

    @property
    def is_undone(self) -> bool:
        """Is it known that the statement made no task?"""
        return not self.answer.is_sent or (self.answer.error is not None and self.is_open)


class Line:
    """The calls that wait, in order. Used by one thread at a time."""

    def __init__(self) -> None:
        self._waiting: deque[Call] = deque()
        self._is_led = False
        # Did the last statement have several calls? Then those of the same callers may be about to come.
        self.is_busy = False

    def enter(self, call: Call) -> bool:
        """Does the call lead now? Else it waits until it is woken."""
        call.leads = not self._is_led
        self._is_led = True
        if not call.leads:
            self._waiting.append(call)
        return call.leads

    def fill(self, batch: Batch) -> None:
        """Choose the calls of a statement."""
        leader, waiting = batch.leader, self._waiting
        calls, most, size = [leader], leader.most, leader.size
        while waiting:
            call = waiting[0]
            if not call.is_gone:
                most, size = min(most, call.most), size + call.size
                if len(calls) >= most or size > MOST_CHARACTERS:
                    break
                calls.append(call)
            waiting.popleft()
        self.is_busy = len(calls) > 1
        batch.calls = calls

    def succeed(self, batch: Batch, ids: Sequence[TaskId]) -> None:
        """The tasks were made."""
        for call, task_id in zip(batch.calls, ids, strict=True):
            _settle(call, task_id)

    def fail(self, batch: Batch, error: BaseException) -> bool:
        """The statement did not succeed. Is the error the leader's own, to be raised?"""
        if batch.leader.outcome is not None:  # the tasks were made before
            return not isinstance(error, OF_A_STATEMENT)
        if isinstance(error, ServerUnavailable):
            if not batch.calls:
                self.fill(batch)
            if len(batch.calls) > 1:
                _raise_in(batch.calls, error)
                return False
        if not (isinstance(error, OF_A_STATEMENT) and batch.is_undone):
            self._interrupt(batch)
            return True
        if len(batch.calls) <= 1:
            return True
        for call in batch.calls:
            call.most = (len(batch.calls) + 1) // 2
        self._waiting.extendleft(reversed(batch.calls[1:]))
        return False

    def _interrupt(self, batch: Batch) -> None:
        """The caller that leads was cancelled or interrupted: that changes nothing for the others."""
        others = batch.calls[1:]
        if batch.answer.value is not None:
            self.succeed(batch, ids_of(batch.answer))
        elif batch.is_undone:
            self._waiting.extendleft(reversed(others))
        else:
            _raise_in(others, OutcomeUnknown(INTERRUPTED, hint=LOST_HINT))

    def leave(self, call: Call) -> None:
        """The call has ended, or its caller was cancelled: another one leads, if this did."""
        call.is_gone = True
        if not call.leads:
            return
        call.leads = False
        while self._waiting:
            heir = self._waiting.popleft()
            if not heir.is_gone:
                heir.leads = True
                _wake(heir)
                return
        self._is_led = False


def _raise_in(calls: Iterable[Call], error: ServerUnavailable) -> None:
    """Each call raises a separate error: a traceback belongs to one caller."""
    for call in calls:
        again = type(error)(str(error), hint=error.hint)
        again.__cause__ = error.__cause__
        _settle(call, again)


def _settle(call: Call, outcome: TaskId | Exception) -> None:
    call.outcome = outcome
    _wake(call)


def _wake(call: Call) -> None:
    wake, call.wake = call.wake, None
    if wake is not None:
        wake()
