"""Notices a handler that blocks the event loop, on which every coroutine of the worker runs.

A thread looks at the stack of the loop's thread while handlers run. It warns if one call of a handler is on it at two
looks in a row between which the loop has not run: a machine that is merely busy looks different each time.
"""

from __future__ import annotations

import inspect
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from types import CodeType, FrameType

from catchment.runtime.events import Events
from catchment.runtime.reports import Reports
from catchment.task.commands import Commands

# Seconds without a turn of the loop after which a handler is looked for, and between two looks.
LATE = 1.0
LOOK = 0.5


class LoopWatch:
    """``beat`` is called on the loop, four times a second while handlers run, and ``rest`` when none does."""

    def __init__(self, commands: Commands, events: Events) -> None:
        self._names = dict(_codes(commands))
        self._events = events
        self._reports = Reports()
        self._thread_id = threading.get_ident()
        self._beat_at: float | None = None
        self._busy = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="catchment-loop-watch", daemon=True)

    def beat(self) -> None:
        self._beat_at = time.monotonic()
        if not self._busy.is_set():
            self._busy.set()
            if not self._thread.is_alive() and not self._over.is_set():
                self._thread.start()

    def rest(self) -> None:
        self._beat_at = None
        self._busy.clear()

    def close(self) -> None:
        self._over.set()
        self._busy.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        seen: tuple[float, int] | None = None
        while True:
            self._busy.wait()
            if self._over.wait(LOOK):
                return
            seen = self._look(seen)

    def _look(self, before: tuple[float, int] | None) -> tuple[float, int] | None:
        """What is on the stack if the loop is late: since when, and which call of a handler."""
        beat_at = self._beat_at
        if beat_at is None or time.monotonic() - beat_at < LATE:
            return None
        frame = self._handler_frame()
        if frame is None:
            return None
        seen = (beat_at, id(frame))
        if seen == before:
            self._warn(frame, time.monotonic() - beat_at)
        return seen

    def _handler_frame(self) -> FrameType | None:
        frame = sys._current_frames().get(self._thread_id)  # pyright: ignore[reportPrivateUsage] - documented, and the only way
        while frame is not None and frame.f_code not in self._names:
            frame = frame.f_back
        return frame

    def _warn(self, frame: FrameType, seconds: float) -> None:
        command = self._names[frame.f_code]
        place = f"{os.path.relpath(frame.f_code.co_filename)}:{frame.f_lineno}"
        text = self._reports.due(
            place,
            f"{command} has blocked the event loop for {seconds:.1f} s, at {place}: no other task of this worker"
            " makes progress. Await what takes long, or make the handler a plain def, which runs in a thread",
        )
        if text is not None:
            self._events.emit("worker.loop_blocked", text, level=logging.WARNING, command=command, place=place)


def _codes(commands: Commands) -> list[tuple[CodeType, str]]:
    """The code of each coroutine that runs on the loop, with the name of its command."""
    codes: list[tuple[CodeType, str]] = []
    for command in commands:
        parts: list[Callable[..., object]] = [command.fn] + ([command.join_part.fn] if command.join_part else [])
        for fn in parts:
            code = getattr(inspect.unwrap(fn), "__code__", None)
            if code is not None:
                codes.append((code, command.name))
    return codes
