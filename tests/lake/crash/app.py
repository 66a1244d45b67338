"""The app of the lake, whose process dies (or stops) once at a step that the test names. The product has no hooks for
this: one function of it is replaced here.

``CRASH_STEP`` names the step, ``CRASH_MARKER`` a file that whoever dies makes first, so that only one process does.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

from catchment.lake.control.control import Control
from catchment.lake.duck.duck import Duck
from catchment.lake.files import sweep
from catchment.lake.refresh import bucket, coordinate, merge, refresh
from catchment.lake.tasks.app import app

__all__ = ["app"]

STEP, MARKER = "CRASH_STEP", "CRASH_MARKER"


def _once(number: signal.Signals) -> None:
    """Send this process a signal, unless another one has had it."""
    try:
        os.close(os.open(os.environ[MARKER], os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    with open(os.environ[MARKER], "w") as marker:
        marker.write(str(os.getpid()))
    os.kill(os.getpid(), number)


def _before(owner: Any, name: str, number: signal.Signals = signal.SIGKILL) -> None:
    original: Callable[..., Any] = getattr(owner, name)

    def changed(*args: Any, **kwargs: Any) -> Any:
        _once(number)
        return original(*args, **kwargs)

    setattr(owner, name, changed)


def _after(owner: Any, name: str) -> None:
    original: Callable[..., Any] = getattr(owner, name)

    def changed(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        _once(signal.SIGKILL)
        return result

    setattr(owner, name, changed)


STEPS: dict[str, Callable[[], None]] = {
    "none": lambda: None,
    "while planning": lambda: _before(Control, "store_plan"),
    "after the plan": lambda: _after(coordinate, "spread"),
    "before a bucket's files": lambda: _before(bucket, "write"),
    "after a bucket's files": lambda: _after(bucket, "write"),
    "before publishing files": lambda: _before(merge, "publish_files"),
    "before publishing rows": lambda: _before(refresh, "publish_rows"),
    "in the commit": lambda: _before(Duck, "sign"),
    "after the commit": lambda: _before(Control, "finish_refresh"),
    "before the clean-up": lambda: _before(sweep, "sweep"),
    "stopped in the commit": lambda: _before(Duck, "sign", signal.SIGSTOP),
    "stopped in a bucket": lambda: _before(bucket, "write", signal.SIGSTOP),
}

if os.environ.get(STEP):
    STEPS[os.environ[STEP]]()
