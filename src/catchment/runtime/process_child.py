"""The process of CPU-bound handlers: reads a call, runs it, writes the answer, until its worker hangs up."""

from __future__ import annotations

import functools
import importlib
import json
import signal
import socket
import sys
from typing import Any

from pydantic_core import to_json

from catchment.task.command import Command
from catchment.task.failure import describe_error


def main() -> None:
    # Ctrl-C goes to the whole group: the worker decides what happens to its processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(fileno=int(sys.argv[1])) as line, line.makefile("rwb") as stream:
        for request in stream:
            call = json.loads(request)
            stream.write(json.dumps(_run(call["path"], call["payload"])).encode() + b"\n")
            stream.flush()


def _run(path: str, payload: str) -> dict[str, Any]:
    try:
        command = _find(path)
        value = command.fn(**command.payload.load(payload))
        return {"result": None if value is None else to_json(value, inf_nan_mode="strings").decode()}
    except Exception as error:
        return {"error": describe_error(error)}


@functools.cache
def _find(path: str) -> Command[..., Any]:
    module, _, name = path.partition(":")
    found = functools.reduce(getattr, name.split("."), importlib.import_module(module))
    if not isinstance(found, Command):
        raise TypeError(f"{path} is a {type(found).__name__}, expected a command")
    return found


if __name__ == "__main__":
    main()
