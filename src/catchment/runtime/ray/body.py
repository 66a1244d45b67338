"""A task of Ray: runs one call on a node of the cluster, and says that it lives while it does.

It yields lines of JSON: ``started`` with the place, ``alive`` every few seconds, ``progress``, and ``answer`` at the
end. Whatever the handler raises is part of the answer; an exception here is one of the cluster.
"""

from __future__ import annotations

import functools
import json
import os
import socket
import threading
from collections.abc import Callable, Generator
from queue import Empty, SimpleQueue
from typing import Any

from catchment.runtime.log import log_to_stderr
from catchment.runtime.process_child import load, run_call

Report = Callable[[int, int], None]


def run(call: str) -> Generator[str]:
    """Run a call in a thread, and yield messages about it."""
    request = json.loads(call)
    if request["log"] is not None:
        _log(*request["log"])
    said: SimpleQueue[dict[str, Any]] = SimpleQueue()
    yield json.dumps({"started": {"host": socket.gethostname(), "pid": os.getpid()}})
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
        say({"answer": run_call(request)})
        return

    def report(done: int, of: int) -> None:
        say({"progress": [done, of]})

    try:
        result = load(request["function"])(request["payload"], report)
        say({"answer": {"result": result}})
    except BaseException as error:  # a function of ours: what it expects is in its result
        say({"answer": {"error": {"kind": type(error).__name__, "message": str(error)}}})


@functools.cache
def _log(form: str, level: str) -> None:
    log_to_stderr(form, level)
