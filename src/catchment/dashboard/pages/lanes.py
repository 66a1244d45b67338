"""*Lanes and limits*: halted lanes first, then the longest or the oldest, and what limits hold back.

With a large backlog lanes are looked for in a part of the tables: the page says so.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from catchment.dashboard.database import Actor, Reader
from catchment.dashboard.screen import Action, Answer, Done, Query, Screen
from catchment.errors import RequestRefused
from catchment.model.check import LARGEST_ID

MOST = 20


class Order(StrEnum):
    """Which lanes come first."""

    LONGEST = "longest"
    OLDEST = "oldest"


class LanesQuery(Query):
    order: Order = Field(Order.LONGEST, description="By the tasks behind their heads, or by the age of their heads.")


class LaneRow(Answer):
    """A lane, and the task at its head. The lane without a name is the top level of a serial queue."""

    queue: str
    lane: str
    state: str = Field(description="What its head does: halted, running, ready or waiting.")
    head_id: int
    command: str | None
    head_state: str | None
    waits_for: str | None
    since: datetime | None = Field(description="Since when the head is in its state.")
    created_at: datetime | str | None = Field(description="When the head was made.")
    halted_at: datetime | None
    error: str | None
    behind: int = Field(description="Tasks behind the head, counted up to 1,000.")
    about: int | None = Field(description="How many these are by what was looked at: exact unless is_sampled.")


class Holder(Answer):
    """A task that holds a place of a limit."""

    id: int
    command: str
    state: str
    since: datetime | None = None
    waits_for: str | None = None


class GateRow(Answer):
    """The limit of a command, for one value of its limit_key."""

    gate: str
    command: str | None
    limit_key: list[str] | None
    max_running: int | None
    rate: int | None
    rate_seconds: float | None
    held: int = Field(description="Places that are taken.")
    tokens: float | None = Field(description="Starts that the rate allows now.")
    next_at: datetime | None = Field(description="When the rate allows the next start.")
    waiting: int = Field(description="Tasks that wait for it, counted up to 1,000.")
    about: int | None
    holders: list[Holder] = Field(description="Up to five tasks that hold a place.")


class QueueLimit(Answer):
    """The limit of a queue."""

    queue: str
    max_running: int | None
    running: int
    rate: int | None
    rate_seconds: float | None
    tokens: float | None
    waiting: int = Field(description="Tasks that it holds, counted up to 1,000.")
    next_at: datetime | None = Field(description="When the rate allows the next start.")


class LanesAnswer(Answer):
    """Halted lanes, the longest or oldest ones, and limits: at most 20 of each."""

    halted: list[LaneRow]
    has_more_halted: bool
    lanes: list[LaneRow]
    gates: list[GateRow]
    queue_limits: list[QueueLimit]
    is_sampled: bool = Field(description="Lanes and limits were looked for in a part of the tables, which are large.")


_LANES = "select * from worker.lane_figures(%(order)s::text, %(limit)s::integer)"


async def read(reader: Reader, query: LanesQuery) -> LanesAnswer:
    halted = await reader.rows(_LANES, order="halted", limit=MOST + 1)
    lanes = await reader.rows(_LANES, order=query.order.value, limit=MOST)
    gates = await reader.rows("select * from worker.gate_figures(%(limit)s::integer)", limit=MOST)
    return LanesAnswer(
        halted=[LaneRow(**row) for row in halted[:MOST]],
        has_more_halted=len(halted) > MOST,
        lanes=[LaneRow(**row) for row in lanes if row["state"] != "halted"],
        gates=[GateRow(**row) for row in gates],
        queue_limits=[QueueLimit(**row) for row in await reader.rows("select * from worker.queue_limits()")],
        is_sampled=any(row["is_sampled"] for row in (*lanes, *gates)),
    )


def _title(answer: LanesAnswer) -> str:
    number = len(answer.halted)
    if number == 0:
        return "Lanes and limits"
    more = " and more" if answer.has_more_halted else ""
    return f"{number}{more} halted {'lane' if number == 1 else 'lanes'}"


SCREEN = Screen(
    name="lanes",
    path="/lanes",
    summary="Halted, longest and oldest lanes, and limits with the tasks that hold their places.",
    query=LanesQuery,
    answer=LanesAnswer,
    read=read,
    title=_title,
    template="lanes.html",
    label="Lanes",
    key="l",
)


class SkipBody(Query):
    queue: Annotated[str, StringConstraints(min_length=1, max_length=200)] = Field(description="The queue of the lane.")
    lane: Annotated[str, StringConstraints(max_length=500)] = Field(
        "", description="A halted lane; without one the top level of a serial queue."
    )
    id: Annotated[int, Field(ge=1, le=LARGEST_ID, description="The task that failed, and halts it.")]


def _name(body: SkipBody) -> str:
    return f"lane {body.lane} of queue {body.queue}" if body.lane else f"queue {body.queue}"


def _begins(body: SkipBody) -> str:
    """The same at the start of a sentence. Names keep their case: A1 and a1 are two lanes."""
    return f"{_name(body)[0].upper()}{_name(body)[1:]}"


async def _skip(actor: Actor, body: SkipBody) -> Done:
    skipped = await actor.value(
        "select worker.skip_halted(%(queue)s::text, %(lane)s::text)", queue=body.queue, lane=body.lane
    )
    if skipped != body.id:
        raise RequestRefused(
            f"{_name(body)} is halted by task {skipped}, and no longer by task {body.id}",
            hint="Look at that task first.",
        )
    return Done(f"{_begins(body)} continues without task {body.id}.", "skipped")


SKIP = Action(
    name="lane.skip",
    path="/lanes/skip",
    summary="Resume a halted lane without the failed task.",
    body=SkipBody,
    run=_skip,
    verb=lambda body: f"Skip task {body.id}",
    consequence=lambda body: (
        f"{_begins(body)} continues with the task behind it. Task {body.id} stays failed; it can be retried "
        "later. Then it runs after those that are in the lane by that time, and halts the lane again if it fails."
    ),
    subject=_name,
    is_destructive=True,
)
