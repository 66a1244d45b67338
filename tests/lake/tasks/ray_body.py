"""Computes a range on a node as ever, and waits for a file before or after it, so that a test can break something.

``RAY_BODIES`` is a folder. ``starts`` in it gets the process of each start, ``computed`` of each that has written its
files; while there is a file ``hold-before`` or ``hold-after``, bodies wait there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from catchment.lake.refresh import remote

FOLDER = "RAY_BODIES"


def compute(text: str, report: Callable[[int, int], None]) -> str:
    _reach("starts", "hold-before")
    answer = remote.compute(text, report)
    _reach("computed", "hold-after")
    return answer


def _reach(name: str, hold: str) -> None:
    folder = Path(os.environ[FOLDER])
    with (folder / name).open("a") as lines:
        lines.write(f"{os.getpid()}\n")
    while (folder / hold).exists():
        time.sleep(0.05)
