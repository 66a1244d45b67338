"""The path of a task: the states it went through, and when, from what the engine keeps.

Kept are the times of the task, of its handler's run that made children, of each attempt that did not complete, and of
ends by its children before a retry by hand. Of a join that completed, only the end is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import Field

from catchment.dashboard.screen import Answer, Moment

At = datetime | str | None


class Step(Answer):
    """A state that the task entered."""

    state: str
    at: Moment | None = Field(description="Null if the moment is not known.")
    seconds: float | None = Field(description="How long it was in this state; null for the current one.")
    words: str


@dataclass(frozen=True, slots=True)
class Run:
    """A run of the handler or of the join. ``end`` is how it ended; ``running`` while it does not. ``is_last``: the
    task settled with it. ``is_scope``: no run, the task settled by its children, and was retried by hand."""

    number: int
    end: str
    started_at: At
    ended_at: At
    words: str = ""
    is_join: bool = False
    is_scope: bool = False
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class Story:
    """What a path is made from."""

    state: str
    created_at: At
    completed_at: At
    runs: Sequence[Run]
    is_cut: bool = False
    children: str = ""
    ending: str = ""


def path_of(story: Story) -> list[Step]:
    """The steps in the order of time."""
    made: list[tuple[str, At, str]] = [("pending", story.created_at, "made")]
    if story.is_cut:
        made.append(("pending", None, "earlier attempts are not shown"))
    runs = sorted(story.runs, key=lambda run: _order(run.started_at or run.ended_at))
    for place, run in enumerate(runs):
        is_last = place == len(runs) - 1
        name = "its join" if run.is_join else f"attempt {run.number}"
        if run.started_at is not None:
            made.append(("processing", run.started_at, f"{name} started"))
        if run.end == "running":
            continue
        if run.end == "completed":
            if story.children:
                made.append(("waiting", run.ended_at, f"waits for {story.children}"))
            continue
        if run.end in ("interrupted", "released"):
            made.append(("interrupted" if run.end == "interrupted" else "pending", run.ended_at, run.words))
            continue
        if is_last and run.end == story.state and not run.is_scope:
            made.append((story.state, run.ended_at, run.words))
        elif run.is_last:
            made.append((run.end, run.ended_at, run.words))
            made.append(("waiting" if run.is_join or run.is_scope else "pending", None, "retried by hand"))
        else:
            made.append(("waiting" if run.is_join else "pending", run.ended_at, run.words))
    if made[-1][0] != story.state:
        made.append((story.state, story.completed_at, story.ending or story.state))
    return [
        Step(
            state=state,
            at=at,
            words=words,
            seconds=_between(at, made[place + 1][1]) if place + 1 < len(made) else None,
        )
        for place, (state, at, words) in enumerate(made)
    ]


def _between(start: At, end: At) -> float | None:
    if isinstance(start, datetime) and isinstance(end, datetime):
        return max(0.0, (end - start).total_seconds())
    return None


def _order(moment: At) -> datetime:
    return moment if isinstance(moment, datetime) else datetime.min.replace(tzinfo=UTC)
