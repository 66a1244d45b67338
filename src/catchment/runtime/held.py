"""What this worker holds: attempts claimed and not yet settled. Each counts until its end is durable."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import Any

from catchment.store.attempt import Attempt
from catchment.task.context import Context


class Stop(Enum):
    """Why a running handler is stopped; the value is how its attempt then ends."""

    CANCELLED = "cancelled"
    TIMED_OUT = "failed"
    RELEASED = "released"
    LOST = "lost"


class Held(Attempt):
    """A claimed attempt, the asyncio task that runs it, and whether it was asked to stop."""

    __slots__ = (
        "context",
        "grace",
        "has_started",
        "is_left",
        "is_settled",
        "runner",
        "seconds",
        "since",
        "span",
        "stop",
        "stop_reason",
        "time_left",
        "timer",
    )

    def __init__(self, row: tuple[Any, ...]) -> None:
        super().__init__(row)
        self.context: Context | None = None
        self.runner: asyncio.Task[None] | None = None
        self.seconds = 0.0
        self.since = 0.0
        # The ids of the span of its run, if there is one.
        self.span: dict[str, str] = {}
        self.time_left: float | None = None
        self.timer: asyncio.TimerHandle | None = None
        self.stop: Stop | None = None
        self.stop_reason: str | None = None
        self.grace: asyncio.TimerHandle | None = None
        self.has_started = False
        self.is_left = False
        self.is_settled = False


class Holdings:
    """The attempts of this worker by task id. ``on_room`` is called when slots have become free."""

    def __init__(self, on_room: Callable[[], None]) -> None:
        self._on_room = on_room
        self._by_id: dict[int, Held] = {}

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, task_id: object) -> bool:
        return task_id in self._by_id

    def __iter__(self) -> Iterator[Held]:
        return iter(list(self._by_id.values()))

    def get(self, task_id: int) -> Held | None:
        return self._by_id.get(task_id)

    def add(self, attempts: Iterable[Held]) -> None:
        for held in attempts:
            self._by_id[held.id] = held

    def drop(self, attempts: Iterable[Held]) -> None:
        """Free the slots of these attempts. If a task has been claimed again, its new attempt keeps its slot."""
        for held in attempts:
            if self._by_id.get(held.id) is held:
                del self._by_id[held.id]
        self._on_room()
