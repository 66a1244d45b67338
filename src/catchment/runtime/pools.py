"""Runs handlers that must not run on the event loop: plain functions in threads, CPU-bound ones in processes, or on a
cluster of Ray.

A thread cannot be stopped: a cancelled handler is waited for, one that timed out or lost its claim is left behind and
keeps its thread until it returns or the worker ends. A process is killed and replaced.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from datetime import timedelta
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar

from catchment.runtime.ray.call import call_on_ray
from catchment.runtime.ray.link import RayLink, call_of
from catchment.runtime.ray.settings import RaySettings
from catchment.runtime.ray.waiting import BodyDied, BodyRefused
from catchment.task import tracing
from catchment.task.encode import DEFAULT_LIMIT
from catchment.task.inside import task_fields

T = TypeVar("T")
CHILD = "catchment.runtime.process_child"
# Room for an answer besides its result, which may double in length as a JSON string. Errors are far shorter.
LONGEST_FRAME = 1024 * 1024
HUNG_UP = 2.0


class Json:
    """A result that is JSON text already."""

    __slots__ = ("text",)

    def __init__(self, text: str | None) -> None:
        self.text = text


class Raised:
    """What a handler raised in its thread. A future must not carry it: asyncio throws a ``GeneratorExit`` or a
    ``CancelledError`` into whatever awaits it, where they mean something else."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


class ProcessError(Exception):
    """A handler failed in its process; ``described`` is the error as it will be stored."""

    def __init__(self, described: dict[str, Any]) -> None:
        super().__init__(described["message"])
        self.described = described


class NotStarted(Exception):
    """No thread, process or transaction connection became free in time: another worker may be faster."""


class Pools:
    """Threads and processes of one worker, made when they are first needed.

    A handler that gets none within ``give_back`` raises ``NotStarted``, and its task goes back to its queue. ``limit``
    is the largest result of a process, in bytes of JSON.
    """

    def __init__(
        self,
        *,
        threads: int,
        processes: int,
        give_back: timedelta = timedelta(seconds=10),
        limit: int = DEFAULT_LIMIT,
    ) -> None:
        self._limit = limit
        self._give_back = give_back
        self._threads = Threads()
        self._thread_room = asyncio.Semaphore(threads)
        self._room = asyncio.Semaphore(processes)
        self._idle: list[Process] = []
        self._all: set[Process] = set()
        self._ray: RayLink | None = None
        self.left_behind = 0

    async def run_in_thread(
        self, fn: Callable[..., Any], bound: dict[str, Any], *, waits: Callable[[], bool], starts: Callable[[], None]
    ) -> Any:
        """Call ``fn`` in a thread, and ``starts`` just before. If this is cancelled and ``waits()`` is true, wait for
        its result all the same; else leave the thread behind."""
        await self._enter(self._thread_room)
        starts()
        future = asyncio.wrap_future(self._threads.call(partial(copy_context().run, fn, **bound)))
        future.add_done_callback(lambda _: self._thread_room.release())
        while True:
            try:
                answer = await asyncio.shield(future)
                break
            except asyncio.CancelledError:
                if future.done() or not waits():
                    self.left_behind += 1
                    future.add_done_callback(self._came_back)
                    raise
                runner = asyncio.current_task()
                if runner is not None:
                    runner.uncancel()
        if isinstance(answer, Raised):
            raise answer.error
        return answer

    async def run_in_process(
        self, path: str, payload: str, *, starts: Callable[[], None], set_up: str | None = None
    ) -> Json:
        """Run the command defined at ``path`` in a process; cancelling kills the process. ``set_up`` is the function
        that the process calls before its first command of this app."""
        await self._enter(self._room)
        try:
            process = self._take_idle() or await Process.start(self._limit)
            self._all.add(process)
            starts()
            try:
                answer = await process.call(path, payload, limit=self._limit, set_up=set_up)
            except BaseException:
                self._all.discard(process)
                process.kill()
                raise
            self._idle.append(process)
        finally:
            self._room.release()
        if "error" in answer:
            raise ProcessError(answer["error"])
        return Json(answer["result"])

    async def run_on_ray(
        self,
        path: str,
        payload: str,
        *,
        starts: Callable[[], None],
        name: str,
        resources: Mapping[str, Any],
        set_up: str | None = None,
    ) -> Json:
        """Run the command defined at ``path`` on a cluster of Ray; cancelling ends its process there.

        Raises ``RayUnavailable`` if it could not be started, ``RayLost`` if it was, and its end is not known."""
        if self._ray is None:
            self._ray = RayLink(RaySettings.read())
        call = call_of(payload, path=path, limit=self._limit, set_up=set_up)
        try:
            answer = await call_on_ray(self._ray, name, call, resources, starts=starts)
        except (BodyDied, BodyRefused) as error:
            raise ProcessError({"kind": "ray", "message": str(error)}) from error
        if "error" in answer:
            raise ProcessError(answer["error"])
        return Json(answer["result"])

    async def _enter(self, room: asyncio.Semaphore) -> None:
        try:
            async with asyncio.timeout(self._give_back.total_seconds()):
                await room.acquire()
        except TimeoutError:
            raise NotStarted from None

    def close(self) -> None:
        for process in self._all:
            process.kill()
        if self._ray is not None:
            self._ray.close()
        self._threads.close()

    def _take_idle(self) -> Process | None:
        """An idle process, or None. One that has died meanwhile (out of memory, for instance) is dropped."""
        while self._idle:
            process = self._idle.pop()
            if process.is_alive:
                return process
            self._all.discard(process)
            process.kill()
        return None

    def _came_back(self, future: asyncio.Future[Any]) -> None:
        self.left_behind -= 1
        if not future.cancelled():
            future.exception()  # retrieved, so that asyncio logs no warning


class Threads:
    """Threads that are started when all others are busy. Unlike those of ``concurrent.futures`` they are daemons: a
    handler that never returns does not keep the process from ending."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._count = 0
        self._is_closed = False

    async def run(self, fn: Callable[..., T], *arguments: Any) -> T:
        """As ``asyncio.to_thread``, whose few threads belong to handlers, which may occupy all of them."""
        answer = await asyncio.wrap_future(self.call(partial(fn, *arguments)))
        if isinstance(answer, Raised):
            raise answer.error
        return answer

    def call(self, fn: Callable[[], Any]) -> Future[Any]:
        """Run ``fn`` in a thread. The caller limits the number of calls."""
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        self._calls.put((future, fn))
        if not self._idle.acquire(blocking=False):
            self._count += 1
            threading.Thread(target=self._run, name=f"catchment-handler-{self._count}", daemon=True).start()
        return future

    def close(self) -> None:
        """Let threads end as soon as they are idle."""
        self._is_closed = True
        while self._idle.acquire(blocking=False):
            self._calls.put(None)

    def _run(self) -> None:
        while (given := self._calls.get()) is not None:
            future, fn = given
            try:
                answer = fn()
            except BaseException as error:  # whatever a handler raises is for its attempt to report
                answer = Raised(error)
            future.set_result(answer)
            del future, fn, given, answer
            self._idle.release()
            if self._is_closed and self._idle.acquire(blocking=False):
                return


async def run_in_own_thread(fn: Callable[..., T], *arguments: Any) -> T:
    """Call ``fn`` in a new thread."""
    threads = Threads()
    try:
        return await threads.run(fn, *arguments)
    finally:
        threads.close()


class Process:
    """A Python process that runs one handler at a time, spoken to over a socket, a line of JSON each way."""

    def __init__(
        self, child: asyncio.subprocess.Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._child = child
        self._reader = reader
        self._writer = writer

    @classmethod
    async def start(cls, limit: int) -> Process:
        ours, theirs = socket.socketpair()
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
        try:
            child = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                CHILD,
                str(theirs.fileno()),
                str(os.getpid()),
                pass_fds=[theirs.fileno()],
                env=environment,
            )
        finally:
            theirs.close()
        reader, writer = await asyncio.open_connection(sock=ours, limit=2 * limit + LONGEST_FRAME)
        return cls(child, reader, writer)

    @property
    def is_alive(self) -> bool:
        return self._child.returncode is None

    async def call(self, path: str, payload: str, *, limit: int, set_up: str | None = None) -> dict[str, Any]:
        """The answer to a call: ``result`` as JSON text, or ``error``. Anything else the process says is an error."""
        token = secrets.token_hex(8)
        call = {
            "token": token,
            "path": path,
            "payload": payload,
            "limit": limit,
            "set_up": set_up,
            "task": task_fields(),
            "trace": tracing.current_trace(),
        }
        try:
            self._writer.write(json.dumps(call).encode() + b"\n")
            await self._writer.drain()
            line = await self._reader.readline()
        except (ConnectionError, asyncio.IncompleteReadError):
            line = b""
        except ValueError:  # a line beyond all limits
            raise _failed("the process of the handler wrote too much to the connection of its worker") from None
        if not line:
            raise _failed(f"the process of the handler ended with {await self._end()}")
        try:
            answer = json.loads(line)
            if answer["token"] == token and ("error" in answer or "result" in answer):
                return answer
        except (ValueError, TypeError, KeyError, RecursionError):
            pass
        raise _failed("the process of the handler wrote unexpected data to the connection of its worker")

    async def _end(self) -> str:
        """How the process ended; one that closed its connection but still runs is killed."""
        try:
            async with asyncio.timeout(HUNG_UP):
                code = await self._child.wait()
        except TimeoutError:
            self.kill()
            return "its connection to the worker closed"
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    def kill(self) -> None:
        self._writer.close()
        with suppress(ProcessLookupError):
            self._child.kill()


def _failed(message: str) -> ProcessError:
    return ProcessError({"kind": "process", "message": message})
