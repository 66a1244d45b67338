"""Where handlers run that must not run on the event loop: plain functions in threads, CPU-bound ones in processes.

A thread cannot be stopped: a cancelled handler is waited for, one that timed out or lost its claim is left behind and
keeps its thread until it returns. A process is killed and replaced.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

CHILD = "catchment.runtime.process_child"
LONGEST_LINE = 64 * 1024 * 1024


class Json:
    """A result that is JSON text already."""

    __slots__ = ("text",)

    def __init__(self, text: str | None) -> None:
        self.text = text


class ProcessError(Exception):
    """A handler failed in its process; ``described`` is the error as it will be stored."""

    def __init__(self, described: dict[str, Any]) -> None:
        super().__init__(described["message"])
        self.described = described


class Pools:
    """Threads and processes of one worker, made when they are first needed."""

    def __init__(self, *, threads: int, processes: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="catchment-handler")
        self._room = asyncio.Semaphore(processes)
        self._idle: list[Process] = []
        self._all: set[Process] = set()
        self.left_behind = 0

    async def run_in_thread(self, fn: Callable[..., Any], bound: dict[str, Any], *, waits: Callable[[], bool]) -> Any:
        """Call ``fn`` in a thread. When we are cancelled and ``waits()``, its end still counts."""
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self._threads, partial(fn, **bound))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            if waits():
                runner = asyncio.current_task()
                if runner is not None:
                    runner.uncancel()
                return await future
            self.left_behind += 1
            future.add_done_callback(self._came_back)
            raise

    async def run_in_process(self, path: str, payload: str) -> Json:
        """Run the command defined at ``path`` in a process of its own; cancelling kills it."""
        async with self._room:
            process = self._idle.pop() if self._idle else await Process.start()
            self._all.add(process)
            try:
                answer = await process.call(path, payload)
            except BaseException:
                self._all.discard(process)
                process.kill()
                raise
            self._idle.append(process)
        if "error" in answer:
            raise ProcessError(answer["error"])
        return Json(answer["result"])

    def close(self) -> None:
        for process in self._all:
            process.kill()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _came_back(self, future: asyncio.Future[Any]) -> None:
        self.left_behind -= 1
        if not future.cancelled():
            future.exception()  # looked at, so that asyncio does not complain that nobody did


class Process:
    """A Python process that runs one handler at a time, spoken to over a socket, a line of JSON each way."""

    def __init__(
        self, child: asyncio.subprocess.Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._child = child
        self._reader = reader
        self._writer = writer

    @classmethod
    async def start(cls) -> Process:
        ours, theirs = socket.socketpair()
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
        try:
            child = await asyncio.create_subprocess_exec(
                sys.executable, "-m", CHILD, str(theirs.fileno()), pass_fds=[theirs.fileno()], env=environment
            )
        finally:
            theirs.close()
        reader, writer = await asyncio.open_connection(sock=ours, limit=LONGEST_LINE)
        return cls(child, reader, writer)

    async def call(self, path: str, payload: str) -> dict[str, Any]:
        self._writer.write(json.dumps({"path": path, "payload": payload}).encode() + b"\n")
        await self._writer.drain()
        line = await self._reader.readline()
        if not line:
            code = await self._child.wait()
            how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
            raise ProcessError({"kind": "process", "message": f"the process of the handler ended with {how}"})
        return json.loads(line)

    def kill(self) -> None:
        self._writer.close()
        with suppress(ProcessLookupError):
            self._child.kill()
