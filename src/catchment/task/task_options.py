"""The options of one task, checked when they are given: its lane, priority, due time, transaction
and app."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from catchment.errors import RequestRefused
from catchment.model.check import LARGEST_INTEGER, SMALLEST_INTEGER, is_text, shown
from catchment.model.duration import Duration, check_due
from catchment.store.enqueue import When
from catchment.store.foreign.refuse import missing
from catchment.store.foreign.types import OWN


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOptions:
    """What ``using`` gives; None, or no ``conn``, where it is not given."""

    lane: str | None = None
    priority: int | None = None
    at: datetime | None = None
    delay: timedelta | None = None
    conn: Any = OWN
    app: Any = None

    @property
    def when(self) -> When:
        """Priority and due time, as the engine takes them."""
        return When(self.priority, self.at, self.delay)

    @property
    def due_at(self) -> datetime | None:
        """When a recorded task is due, by this machine's clock."""
        return self.at if self.delay is None else datetime.now(UTC) + self.delay

    def expected(self, command: str) -> str | None:
        """The command that a handle checks: a connection of the caller may be to another database."""
        return None if self.conn is OWN else command

    def using(
        self,
        *,
        lane: str | None = None,
        priority: int | None = None,
        at: datetime | None = None,
        delay: Duration | None = None,
        conn: Any = OWN,
        app: Any = None,
    ) -> TaskOptions:
        """These options with others besides, or instead."""
        if conn is None:
            raise missing()
        given: dict[str, Any] = {}
        if lane is not None:
            given["lane"] = check_lane(lane)
        if priority is not None:
            given["priority"] = check_priority(priority)
        if at is not None or delay is not None:
            given |= {"at": at, "delay": check_due(at, delay)}
        if conn is not OWN:
            given["conn"] = conn
        if app is not None:
            given["app"] = check_app(app)
        return replace(self, **given) if given else self


NO_OPTIONS = TaskOptions()


def check_app(app: Any) -> Any:
    """An app, as far as making tasks needs it."""
    if hasattr(app, "verbs") and hasattr(app, "sync_verbs"):
        return app
    raise RequestRefused(f"app is {shown(app)}, expected an App", hint="Pass the object: using(app=other_app).")


def check_priority(priority: int | None) -> int | None:
    """A priority that the engine can store; smaller runs first."""
    if priority is None or (type(priority) is int and SMALLEST_INTEGER <= priority <= LARGEST_INTEGER):
        return priority
    raise RequestRefused(
        f"priority is {shown(priority)}, expected an integer from {SMALLEST_INTEGER} to {LARGEST_INTEGER};"
        " smaller runs first"
    )


def check_lane(lane: str | None) -> str | None:
    """A key that the engine can store."""
    if lane is None or (is_text(lane) and 0 < len(lane) <= 500):
        return lane
    raise RequestRefused(
        f"lane is {shown(lane)}, expected a text of 1 to 500 characters without NUL and lone surrogates",
        hint="Tasks of one lane run one after another; leave it out for a task that needs no order.",
    )
