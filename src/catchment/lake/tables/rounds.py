"""Asks for rounds and waits for them.

Every refresh is a task, whether requested or scheduled. Where no worker serves the lake, refreshes are run in this
process as long as it waits: the same tasks, by the same code.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from catchment.errors import RefreshTimeout
from catchment.lake.control.control import Control
from catchment.lake.sql import LAKE
from catchment.store.fetch import fetch_rows

LOOK_SECONDS = 0.1
ADVANCE_SECONDS = 1.0
"""A round continues by itself; now and then it is pushed, in case a worker died between two steps."""


@dataclass(frozen=True, slots=True)
class RefreshInfo:
    """A refresh, running or ended. ``done`` and ``total`` count the subtasks of a parallel one."""

    id: int
    name: str
    state: str
    action: str | None
    reason: str | None
    inserted: int | None
    deleted: int | None
    keys: int | None
    rows: int | None
    data_snapshot: int
    data_timestamp: datetime
    seconds: float | None
    error_code: str | None
    error: str | None
    done: int | None
    total: int | None
    figures: dict[str, Any]

    @property
    def is_over(self) -> bool:
        return self.state not in ("SCHEDULED", "EXECUTING")

    @property
    def is_failed(self) -> bool:
        return self.state in ("FAILED", "UPSTREAM_FAILED", "CANCELLED")


OnProgress = Callable[[list[RefreshInfo]], None]


def read_round(control: Control, round_id: int) -> list[RefreshInfo]:
    """The refreshes of a round, as they stand."""
    with control.connection() as conn:
        rows = fetch_rows(conn, LAKE.query("round_progress"), round_id=round_id)
    return [RefreshInfo(**row) for row in rows]


def refresh(
    control: Control,
    dt_ids: Collection[int],
    *,
    trigger: str = "manual",
    timeout: float | None = None,
    on_progress: OnProgress = lambda _: None,
) -> list[RefreshInfo]:
    """Refresh tables, and the dynamic tables they read, as of now, and wait for the end; returns how each went.

    Failures are in the result and are not raised. Raises ``RefreshTimeout`` when that takes longer than ``timeout``
    seconds; that, and an interrupt, leave the round to the workers.
    """
    round_id = control.request_round(dt_ids, trigger)
    wait_round(control, round_id, timeout=timeout, on_progress=on_progress)
    return read_round(control, round_id)


def wait_round(
    control: Control, round_id: int, *, timeout: float | None = None, on_progress: OnProgress = lambda _: None
) -> None:
    """Wait until a round is over, and run its tasks here while nobody else does. Raises ``RefreshTimeout``."""
    deadline = None if timeout is None else time.monotonic() + timeout
    looked = time.monotonic()

    def is_over() -> bool:
        nonlocal looked
        if time.monotonic() - looked >= ADVANCE_SECONDS:
            looked = time.monotonic()
            control.advance(round_id)
        refreshes = read_round(control, round_id)
        on_progress(refreshes)
        return all(item.is_over for item in refreshes)

    def is_late() -> bool:
        return deadline is not None and time.monotonic() >= deadline

    while not is_over():
        if is_late():
            raise RefreshTimeout(
                f"round {round_id} is not over after {timeout:g} s; it continues",
                hint="'catchment table history' shows how it ends; a worker must run: catchment table worker.",
            )
        if control.count_workers() == 0:
            # Only now: it brings all that a worker needs.
            from catchment.lake.tasks.worker import run_here

            run_here(control.dsn, lambda: is_over() or is_late())
        else:
            time.sleep(LOOK_SECONDS)
