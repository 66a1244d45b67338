"""The process of CPU-bound handlers: reads a call, runs it, writes the answer, until its worker hangs up or dies."""

from __future__ import annotations

import ctypes
import functools
import importlib
import json
import os
import signal
import socket
import sys
from contextvars import copy_context
from typing import Any, cast

from catchment.runtime.log import FORMAT_VARIABLE, LEVEL_VARIABLE, keep_own_loggers, log_to_stderr
from catchment.task import tracing
from catchment.task.command import Command
from catchment.task.failure import describe_error
from catchment.task.inside import enter

_PR_SET_PDEATHSIG = 1


def main() -> None:
    number, worker = int(sys.argv[1]), int(sys.argv[2])
    # Ctrl-C goes to the whole group: the worker decides what happens to its processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with(worker)
    if FORMAT_VARIABLE in os.environ:
        log_to_stderr(os.environ[FORMAT_VARIABLE], os.environ.get(LEVEL_VARIABLE, "info"))
    with socket.socket(fileno=number) as line, line.makefile("rwb") as stream:
        for request in stream:
            call = json.loads(request)
            answer = {"token": call["token"], **run_call(call)}
            stream.write(json.dumps(answer, ensure_ascii=False).encode() + b"\n")
            stream.flush()


def die_with(worker: int) -> None:
    """Have the kernel kill this process when the worker dies: a handler must not run beside its next attempt."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != worker:  # it died before prctl
        os._exit(1)


def run_call(call: dict[str, Any]) -> dict[str, Any]:
    """Run the command of a call: its ``result`` as JSON text, or the ``error``, described."""
    try:
        return {"result": copy_context().run(_call, call)}
    except BaseException as error:  # sys.exit() in a handler ends its attempt, not this process
        return {"error": describe_error(error)}


def _call(call: dict[str, Any]) -> str | None:
    """Run the handler as one of this task, in its trace; in a context that ends with it."""
    enter(call["task"])
    tracing.enter(call["trace"])
    if call["set_up"] is not None:
        _set_up(call["set_up"])
    command = _find(call["path"])
    value = command.surroundings.around(command.fn)(**command.payload.load(call["payload"]))
    return command.returns.dump(value, limit=call["limit"])


@functools.cache
def _set_up(path: str) -> None:
    load(path)()


def load(path: str) -> Any:
    """What is at ``module:qualname``."""
    module, _, name = path.partition(":")
    return functools.reduce(getattr, name.split("."), importlib.import_module(module))


@functools.cache
def _find(path: str) -> Command[..., Any]:
    command = load(path)
    keep_own_loggers()
    if not isinstance(command, Command):
        raise TypeError(f"{path} is a {type(command).__name__}, expected a command")
    return cast("Command[..., Any]", command)


if __name__ == "__main__":
    main()
