"""A task of Ray: runs one call on a node of the cluster, and says that it lives while it does.

It yields lines of JSON: ``started`` with the place, ``alive`` every few seconds, ``progress``, and ``answer`` at the
end. Whatever the handler raises is part of the answer; an exception here is one of the cluster.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import socket
import threading
from collections.abc import Callable, Generator
from queue import Empty, SimpleQueue
from typing import Any

from catchment.runtime.log import log_to_stderr
from catchment.runtime.process_child import load, run_call
from catchment.task.failure import describe_error

Report = Callable[[int, int], None]


def run(call: str) -> Generator[str]:
    """Run a call in a thread, and yield messages about it."""
    request = json.loads(call)
    if request["log"] is not None:
        _log(*request["log"])
    said: SimpleQueue[dict[str, Any]] = SimpleQueue()
    yield json.dumps({"started": {"host": socket.gethostname(), "pid": os.getpid(), "node": _node()}})
    threading.Thread(target=_work, args=(request, said.put), name="catchment-ray", daemon=True).start()
    while True:
        try:
            line = said.get(timeout=request["beat"])
        except Empty:
            line = {"alive": True}
        yield json.dumps(line, ensure_ascii=False)
        if "answer" in line:
            return


def _work(request: dict[str, Any], say: Callable[[dict[str, Any]], None]) -> None:
    if request["function"] is None:
        say({"answer": _unknown(request["path"]) or run_call(request)})
        return

    def report(done: int, of: int) -> None:
        say({"progress": [done, of]})

    try:
        result = load(request["function"])(request["payload"], report)
        say({"answer": {"result": result}})
    except BaseException as error:  # a function of ours: what it expects is in its result
        say({"answer": {"error": {"kind": type(error).__name__, "message": str(error)}}})


def _unknown(path: str) -> dict[str, Any] | None:
    """The answer of a node that does not have the handler: the worker has it, or it would not have claimed the task."""
    try:
        load(path)
    except (ImportError, AttributeError) as error:
        error.add_note(
            f"The node {socket.gethostname()} of the cluster of Ray cannot import {path}. Install the same version of"
            " the application there, or set CATCHMENT_RAY_RUNTIME_ENV for the worker."
        )
        return {"error": describe_error(error)}
    return None


def _node() -> str:
    """The id of this node."""
    # Not at the top: the worker imports this module's function by name, and never Ray.
    return importlib.import_module("ray").get_runtime_context().get_node_id()


@functools.cache
def _log(form: str, level: str) -> None:
    log_to_stderr(form, level)
