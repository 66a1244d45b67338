"""Sends the calls of a line: of the coroutines of an event loop, or of threads.

There is no task or thread in the background: the calls lead each other. The caller that leads may be cancelled. That
cancels the statement, as for a call alone; the others of it are sent again unless their tasks were made.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from functools import partial

from catchment.client.line import Batch, Call, Line
from catchment.model.task import TaskId
from catchment.store.answer import AsyncClientConnection, ClientConnection
from catchment.store.direct import Answer
from catchment.store.enqueue import enqueue_together, enqueue_together_async
from catchment.store.foreign.sender import Values
from catchment.store.pool import is_main_thread


class AsyncCalls:
    """The calls of one event loop. ``opened`` gives a connection."""

    def __init__(self, opened: Callable[[], AbstractAsyncContextManager[AsyncClientConnection]]) -> None:
        self._opened = opened
        self._line = Line()

    async def enqueue(self, values: Values) -> TaskId:
        """Make the task of this call. If this is cancelled, the task may or may not exist."""
        call = Call(values)
        try:
            if not self._line.enter(call):
                woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                call.wake = partial(_resolve, woken)
                await woken
            while call.outcome is None:
                await self._lead(Batch(call))
        finally:
            self._line.leave(call)
        if isinstance(call.outcome, Exception):
            raise call.outcome
        return call.outcome

    async def _lead(self, batch: Batch) -> None:
        line = self._line
        try:
            if line.is_busy:
                await asyncio.sleep(0)  # for the callers of the last statement, who have just been woken
            async with self._opened() as conn:
                line.fill(batch)
                try:
                    ids = await enqueue_together_async(conn, [call.values for call in batch.calls], batch.answer)
                finally:
                    batch.is_open = not conn.closed
                line.succeed(batch, ids)
        except BaseException as error:
            if line.fail(batch, error):
                raise


def _resolve(woken: asyncio.Future[None]) -> None:
    if not woken.done():  # it is done when its caller was cancelled
        woken.set_result(None)


class ThreadCalls:
    """The calls of threads. After a fork, those of the parent are not in the line.

    The main thread is not in it either: a signal handler may raise there between any two steps, and would leave the
    line to the other threads as it is then.
    """

    def __init__(self, opened: Callable[[], AbstractContextManager[ClientConnection]]) -> None:
        self._opened = opened
        self._lines = (os.getpid(), _SafeLine())

    def _line(self) -> _SafeLine:
        pid, line = self._lines
        if pid != os.getpid():
            line = _SafeLine()
            self._lines = (os.getpid(), line)  # at once: another thread sees both or none
        return line

    def enqueue(self, values: Values) -> TaskId:
        """Make the task of this call."""
        if is_main_thread():
            with self._opened() as conn:
                return enqueue_together(conn, [values], Answer())[0]
        line, call = self._line(), Call(values)
        try:
            woken = line.enter_or_wait(call)
            if woken is not None:
                woken.acquire()  # when it is woken
            while call.outcome is None:
                self._lead(line, Batch(call))
        finally:
            line.leave(call)
        if isinstance(call.outcome, Exception):
            raise call.outcome
        return call.outcome

    def _lead(self, line: _SafeLine, batch: Batch) -> None:
        try:
            if line.is_busy:
                time.sleep(0)  # as in asyncio
            with self._opened() as conn:
                line.fill(batch)
                try:
                    ids = enqueue_together(conn, [call.values for call in batch.calls], batch.answer)
                finally:
                    batch.is_open = not conn.closed
                line.succeed(batch, ids)
        except BaseException as error:
            if line.fail(batch, error):
                raise


class _SafeLine(Line):
    """A line for several threads."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.RLock()

    def enter_or_wait(self, call: Call) -> threading.Lock | None:
        """None if the call leads now; else a lock, which is released when it is woken."""
        with self._lock:
            if self.enter(call):
                return None
            woken = threading.Lock()
            woken.acquire()
            call.wake = woken.release
            return woken

    def fill(self, batch: Batch) -> None:
        with self._lock:
            super().fill(batch)

    def succeed(self, batch: Batch, ids: Sequence[TaskId]) -> None:
        with self._lock:
            super().succeed(batch, ids)

    def fail(self, batch: Batch, error: BaseException) -> bool:
        with self._lock:
            return super().fail(batch, error)

    def leave(self, call: Call) -> None:
        if call.leads or call.outcome is None:  # one with an outcome neither waits nor will lead
            with self._lock:
                super().leave(call)
