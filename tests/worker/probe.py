"""What handlers did and when, told from outside: each process appends lines to a file of its own.

All lines carry the system's monotonic clock, which is the same in every process, so intervals can be compared. A line
is written with one call, so it is whole even if its process is killed right after.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = "PROBE_FOLDER"
_numbers = itertools.count()
_files: dict[int, int] = {}


def write(what: str, **fields: Any) -> None:
    """Append one line; called by handlers, in whatever process or thread they run."""
    pid = os.getpid()
    if pid not in _files:
        path = Path(os.environ[FOLDER]) / f"{pid}.lines"
        _files[pid] = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    line = json.dumps({"what": what, "at": time.monotonic(), "pid": pid} | fields)
    os.write(_files[pid], f"{line}\n".encode())


@contextmanager
def span(key: str, seq: int = 0) -> Iterator[None]:
    """Record the beginning and the end of the block, however it ends."""
    number = next(_numbers)
    write("start", key=key, seq=seq, number=number)
    try:
        yield
    finally:
        write("end", number=number)


def is_open(gate: str) -> bool:
    """Has the test opened this gate?"""
    return (Path(os.environ[FOLDER]) / f"{gate}.gate").exists()


def open_gate(gate: str) -> None:
    """Open a gate for other handlers; tests do so through their records."""
    (Path(os.environ[FOLDER]) / f"{gate}.gate").touch()


async def wait_for_gate(gate: str) -> None:
    while not is_open(gate):  # noqa: ASYNC110 - the test is another process
        await asyncio.sleep(0.01)


@dataclass(frozen=True)
class Span:
    """One run of a handler. ``end`` is infinite while it runs, or if its process was killed and nobody knows when."""

    key: str
    seq: int
    pid: int
    start: float
    end: float


class Records:
    """What the test reads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # When processes were seen dead: no handler of theirs ran after that.
        self.deaths: dict[int, float] = {}

    def open_gate(self, gate: str) -> None:
        (self.folder / f"{gate}.gate").touch()

    def lines(self, what: str | None = None) -> list[Mapping[str, Any]]:
        """All lines by time, or those of one kind."""
        found: list[Mapping[str, Any]] = []
        for path in self.folder.glob("*.lines"):
            found += [json.loads(line) for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
        return sorted((line for line in found if what in (None, line["what"])), key=lambda line: line["at"])

    def spans(self, key: str | None = None) -> list[Span]:
        """All runs by their start, or those of one key."""
        lines = self.lines()
        ends = {(line["pid"], line["number"]): line["at"] for line in lines if line["what"] == "end"}
        return [
            Span(line["key"], line["seq"], line["pid"], line["at"], self._end(line, ends))
            for line in lines
            if line["what"] == "start" and key in (None, line["key"])
        ]

    def _end(self, line: Mapping[str, Any], ends: Mapping[tuple[int, int], float]) -> float:
        end = ends.get((line["pid"], line["number"]))
        return self.deaths.get(line["pid"], float("inf")) if end is None else end


def peak_overlap(spans: Iterable[Span]) -> int:
    """The largest number of runs at the same moment."""
    moments = sorted(moment for s in spans for moment in ((s.start, 1), (s.end, -1)))
    return max(itertools.accumulate(change for _, change in moments), default=0)


def overlaps(spans: Iterable[Span]) -> list[tuple[Span, Span]]:
    """Runs of one key that began before the run before them had ended."""
    found: list[tuple[Span, Span]] = []
    for runs in by_key(spans).values():
        found += [(one, next_one) for one, next_one in itertools.pairwise(runs) if next_one.start < one.end]
    return found


def disorder(spans: Iterable[Span]) -> list[tuple[Span, Span]]:
    """Runs of one key that came after a run of a later number; a number may be repeated until the next one starts."""
    found: list[tuple[Span, Span]] = []
    for runs in by_key(spans).values():
        found += [(one, next_one) for one, next_one in itertools.pairwise(runs) if next_one.seq < one.seq]
    return found


def by_key(spans: Iterable[Span]) -> dict[str, list[Span]]:
    """Runs of each key by their start."""
    found: dict[str, list[Span]] = {}
    for one in sorted(spans, key=lambda s: s.start):
        found.setdefault(one.key, []).append(one)
    return found
