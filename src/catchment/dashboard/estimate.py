"""When a scope will have ended, if its children continue as they did; or why nobody can say."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from catchment.dashboard.words import rate, span

# Of fewer ends no rate is made.
FEWEST = 3
FARTHEST = timedelta(days=3650)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a waiting scope is. ``ended`` children settled in the last ``seconds``."""

    now: datetime
    since: datetime | None
    total: int
    open: int
    active: int
    ended: int
    seconds: float
    is_joining: bool = False
    is_cancelling: bool = False


@dataclass(frozen=True, slots=True)
class Estimate:
    """``ends_at`` is None if it is unknown. ``basis`` says how it was estimated, or why it could not be."""

    ends_at: datetime | None
    basis: str


def estimate(progress: Progress) -> Estimate:
    """By the rate of the last minutes, else by the average since the first child could run."""
    if progress.is_joining:
        return Estimate(None, "Its children have settled; its join is next.")
    if progress.is_cancelling:
        return Estimate(None, "It is being cancelled: what runs was asked to stop.")
    if progress.open == 0:
        return Estimate(None, "Its children have settled; it settles at the next upkeep.")
    if progress.active == 0 and progress.ended == 0:
        return Estimate(None, "Unknown: none of its children is running.")
    if progress.ended >= FEWEST and progress.seconds > 0:
        return _at(progress, progress.ended / progress.seconds, f"the last {span(progress.seconds)}")
    done = progress.total - progress.open
    passed = (progress.now - progress.since).total_seconds() if progress.since is not None else 0.0
    if done >= FEWEST and passed > 0:
        return _at(progress, done / passed, f"{span(passed)} since it began to wait")
    return Estimate(None, f"Unknown: fewer than {FEWEST} of its children have ended.")


def _at(progress: Progress, speed: float, window: str) -> Estimate:
    left = progress.open / speed
    speed_text = f"{rate(speed)} children per second" if speed >= 1 else f"a child in {span(1 / speed)}"
    if left > FARTHEST.total_seconds():
        return Estimate(None, f"In more than ten years, at the rate of {window}: {speed_text}.")
    return Estimate(progress.now + timedelta(seconds=left), f"At the rate of {window}: {speed_text}.")
