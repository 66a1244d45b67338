"""The driver: a child process of a worker that is connected to a cluster of Ray and runs its calls there.

It reads and writes lines of JSON. A call has a token, and each line about it names the token: those of its ``body``, or
``gone`` when there will be no answer. ``trouble`` is why Ray has not connected yet, ``unreachable`` why it will not.
``ready`` is said once, ``beat`` every few seconds. It ends when the worker hangs up or dies, and takes its tasks with
it. Ray may end it too: the worker then starts another.
"""

from __future__ import annotations

import asyncio
import importlib
import io
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any, cast

from catchment.runtime.process_child import die_with
from catchment.runtime.ray import body
from catchment.runtime.ray.suspects import Suspects

# Ray is imported by ``main``, and its types are not complete.
Ray = Any
LONGEST_LINE = 2**31
LARGEST_READ = 2**16
LONGEST_TEXT = 2000
LOOK_SECONDS = 5.0


def main() -> None:
    number, worker = int(sys.argv[1]), int(sys.argv[2])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The worker reads each line that Ray prints when it is printed.
    cast("io.TextIOWrapper", sys.stdout).reconfigure(line_buffering=True)
    die_with(worker)
    with socket.socket(fileno=number) as line:
        options = json.loads(sys.argv[3])
        try:
            with _attempts(line):
                ray = _connect(options)
        except BaseException as error:  # it says what Ray says, whatever that is
            line.sendall(_frame({"unreachable": _explained(error)}))
            # Closing a socket that holds unread calls resets it, and the worker would not read the reason.
            while line.recv(LARGEST_READ):
                pass
            return
        asyncio.run(_serve(ray, line, options))
    # Not by the interpreter, which waits for Ray's threads: without a connection to the head they may never end.
    os._exit(0)


def _connect(options: dict[str, Any]) -> Ray:
    # Ray puts the folder of the program into the path of its workers, where our modules would hide others.
    sys.argv[0] = os.path.join(os.getcwd(), "catchment")
    ray: Ray = importlib.import_module("ray")
    local: dict[str, Any] = {}
    if os.environ.get("RAY_ADDRESS", "") in ("", "local"):
        # For a cluster that is started here. Without an address, one that runs on this machine is found first.
        local = {"_node_ip_address": "127.0.0.1", "include_dashboard": False}
    ray.init(
        namespace="catchment",
        runtime_env=options["runtime_env"],
        logging_level=logging.WARNING,
        log_to_driver=True,
        configure_logging=True,
        **local,
    )
    return ray


class _WrongToken(Exception):
    """The head refuses the token of this process. Trying again changes nothing."""


@contextmanager
def _attempts(line: socket.socket) -> Generator[None]:
    """Report why attempts to connect fail. Ray logs that for debugging; the error that it raises at the end does not
    say it."""

    def is_shown(record: logging.LogRecord) -> bool:
        # A failed attempt is logged as a traceback. Its last line is the error.
        _, is_failure, text = record.getMessage().strip().rpartition("\nray.exceptions.")
        if is_failure and text.startswith("AuthenticationError"):
            raise _WrongToken(text)
        if is_failure:
            line.sendall(_frame({"trouble": text[:LONGEST_TEXT]}))
        return record.levelno > logging.DEBUG

    logger = logging.getLogger("ray._private.node")
    level = logger.level
    logger.setLevel(logging.DEBUG)
    logger.addFilter(is_shown)
    try:
        yield
    finally:
        logger.removeFilter(is_shown)
        logger.setLevel(level)


def _explained(error: BaseException) -> str:
    kind = type(error).__name__
    if kind not in ("_WrongToken", "AuthenticationError"):
        return f"{kind}: {error}"
    # The rest is advice for those who have started no cluster yet.
    reason = str(error).partition(" Ensure that")[0].removeprefix("AuthenticationError: ").rstrip(".")
    return f"{reason}. Give the worker the RAY_AUTH_MODE and the RAY_AUTH_TOKEN of the head"


async def _serve(ray: Ray, line: socket.socket, options: dict[str, Any]) -> None:
    line.setblocking(False)
    reader, writer = await asyncio.open_connection(sock=line, limit=LONGEST_LINE)
    calls = _Calls(ray, writer, options["beat"])
    writer.write(_frame({"ready": True}))
    looking = [asyncio.create_task(calls.beat()), asyncio.create_task(_watch(ray, calls))]
    with suppress(ConnectionError):
        while text := await reader.readline():
            calls.take(json.loads(text))
    for task in looking:
        task.cancel()


async def _watch(ray: Ray, calls: _Calls) -> None:
    """End this process when its place in the cluster is lost: Ray would wait for it forever.

    The question has Ray end this process itself if a head that was started again answers it."""
    place = ray.get_runtime_context().get_node_id()
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        with suppress(Exception):  # no answer: it is asked again
            calls.nodes = nodes = await asyncio.to_thread(ray.nodes)
            if not any(node["NodeID"] == place and node["Alive"] for node in nodes):
                os._exit(1)


class _Calls:
    """The calls of one driver, each in a separate task."""

    def __init__(self, ray: Ray, writer: asyncio.StreamWriter, beat: float) -> None:
        self._ray = ray
        self._writer = writer
        self._beat = beat
        self._body = ray.remote(body.run)
        self._running: dict[str, asyncio.Task[None]] = {}
        self._cancelled: dict[str, asyncio.Event] = {}
        self._suspects = Suspects(beat)
        self.nodes: list[dict[str, Any]] = []

    def take(self, request: dict[str, Any]) -> None:
        """Start a call, or end one."""
        token = request["token"]
        if "cancel" not in request:
            self._cancelled[token] = asyncio.Event()
            self._running[token] = asyncio.create_task(self._run(token, request))
        elif (cancelled := self._cancelled.get(token)) is not None:
            self._suspects.cancelled(token)
            cancelled.set()

    async def beat(self) -> None:
        """Say that this process lives."""
        while True:
            self._writer.write(_frame({"beat": True}))
            await asyncio.sleep(self._beat)

    async def _run(self, token: str, request: dict[str, Any]) -> None:
        cancelling: asyncio.Task[None] | None = None
        has_ended = False
        try:
            where = self._suspects.avoided(self.nodes, request["resources"])
            # In a thread: it waits for the head, which may be gone.
            stream = await asyncio.to_thread(self._submit, request, where)
            cancelling = asyncio.create_task(self._cancel(self._cancelled[token], stream))
            async for ref in stream:
                said = json.loads(await ref)
                has_ended = "answer" in said
                if "started" in said:
                    self._suspects.started(token, said["started"]["node"])
                self._suspects.heard(token)
                self._say(token, said)
            if not has_ended:
                self._say(token, {"gone": "process", "message": "it ended without an answer"})
        except Exception as error:  # whatever Ray raises: the worker decides what it means
            if not has_ended:
                self._say(token, {"gone": self._kind(token, error), "message": _text(error)})
        finally:
            del self._running[token], self._cancelled[token]
            self._suspects.ended(token)
            if cancelling is not None:
                cancelling.cancel()

    def _submit(self, request: dict[str, Any], where: dict[str, str]) -> Any:
        options = {name: value for name, value in request["resources"].items() if value is not None}
        if where:
            options["label_selector"] = where
        call = json.dumps({**request["call"], "beat": self._beat})
        return self._body.options(num_returns="streaming", max_retries=0, name=request["name"], **options).remote(call)

    async def _cancel(self, cancelled: asyncio.Event, stream: Any) -> None:
        """End a call when it is cancelled; by force, because a task that sleeps or computes in C hears nothing else."""
        await cancelled.wait()
        with suppress(Exception):  # it has ended
            await asyncio.to_thread(self._ray.cancel, stream, force=True)

    def _say(self, token: str, said: dict[str, Any]) -> None:
        self._writer.write(_frame({"token": token, **said}))

    def _kind(self, token: str, error: Exception) -> str:
        errors = self._ray.exceptions
        if self._cancelled[token].is_set():
            return "cancelled"
        if isinstance(error, errors.OutOfMemoryError):
            return "memory"
        if isinstance(error, errors.WorkerCrashedError):
            return "process"
        if isinstance(error, (errors.NodeDiedError, errors.LocalRayletDiedError, errors.ObjectLostError)):
            return "node"
        return "unable"


def _text(error: Exception) -> str:
    """What an error says. Ray's are long: the first line names the problem, and the last ones its cause."""
    text = str(error).strip() or type(error).__name__
    if len(text) <= LONGEST_TEXT:
        return text
    head = text.partition("\n")[0][: LONGEST_TEXT // 2]
    return f"{head}\n…{text[len(head) - LONGEST_TEXT :]}"


def _frame(said: dict[str, Any]) -> bytes:
    return json.dumps(said, ensure_ascii=False).encode() + b"\n"


if __name__ == "__main__":
    main()
