"""*Schedules*: when each fires, in words, its next run, and how its last ones ended."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from catchment.dashboard.database import Actor, Reader
from catchment.dashboard.screen import Action, Answer, Done, Query, Screen
from catchment.dashboard.words import exact, listed
from catchment.model.rhythm import say_rhythm

PAGE = 25


class SchedulesQuery(Query):
    after: Annotated[str, StringConstraints(max_length=500)] | None = Field(
        None, description="Schedules after this name: next of the page before."
    )


class Run(Answer):
    """A task that a schedule has made."""

    id: int
    state: str | None = Field(None, description="Null if the task was deleted.")
    since: datetime | None = Field(None, description="Since when it is in this state.")


class ScheduleRow(Answer):
    """A schedule. It has an interval or a cron expression."""

    name: str
    command: str
    queue: str
    fires: str = Field(description="When it fires, in words.")
    every_seconds: float | None
    cron: str | None
    timezone: str
    missed: str = Field(description="Policy for missed times: one, all or skip.")
    overlap: str = Field(
        description="Policy for a time at which the last run has not settled: allow, skip, wait or cancel."
    )
    is_declared: bool = Field(description="True if it is in the code of an app.")
    is_in_code: bool = Field(description="True if it is declared and a live worker has it; without, it does not fire.")
    enabled: bool = Field(description="False while it is paused.")
    next_at: datetime | str | None
    last_at: datetime | str | None
    last_task_id: int | None
    error: str | None = Field(description="The error of its last task that has settled, if that failed.")
    recent: list[Run] = Field(description="Its last ten tasks, the newest first.")
    problem: str | None = Field(description="Why it could not be fired.")


class SchedulesAnswer(Answer):
    """Schedules by name. ``next`` is the parameter ``after`` of the page after it; null at the end."""

    schedules: list[ScheduleRow]
    next: str | None


async def read(reader: Reader, query: SchedulesQuery) -> SchedulesAnswer:
    rows = await reader.rows(
        "select * from worker.schedule_figures(%(after)s::text, %(limit)s::integer)", after=query.after, limit=PAGE + 1
    )
    schedules = [
        ScheduleRow(**row, fires=say_rhythm(row["every_seconds"], row.pop("rhythm"), row["timezone"]))
        for row in rows[:PAGE]
    ]
    return SchedulesAnswer(schedules=schedules, next=schedules[-1].name if len(rows) > PAGE else None)


def _title(answer: SchedulesAnswer) -> str:
    broken = sum(schedule.problem is not None for schedule in answer.schedules)
    if broken:
        return f"{broken} {'schedule' if broken == 1 else 'schedules'} cannot be fired"
    return listed(len(answer.schedules), "schedule", has_more=answer.next is not None)


SCREEN = Screen(
    name="schedules",
    path="/schedules",
    summary="Schedules with their next and last runs.",
    query=SchedulesQuery,
    answer=SchedulesAnswer,
    read=read,
    title=_title,
    template="schedules.html",
    label="Schedules",
    key="s",
)


class ScheduleBody(Query):
    name: Annotated[str, StringConstraints(min_length=1, max_length=500)] = Field(description="The name of a schedule.")


async def _run(actor: Actor, body: ScheduleBody) -> Done:
    task_id = await actor.value("select worker.run_schedule(%(name)s::text)", name=body.name)
    return Done(f"Schedule {body.name} has made task {task_id}.", "run")


_IS_ENABLED = "select s.enabled from worker.schedule as s where s.name = %(name)s::text"


async def _pause(actor: Actor, body: ScheduleBody) -> Done:
    if await actor.value(_IS_ENABLED, name=body.name) is False:
        return Done(f"Nothing was done: schedule {body.name} is paused already.", "paused")
    await actor.rows("select worker.pause_schedule(%(name)s::text)", name=body.name)
    return Done(f"Schedule {body.name} is paused.", "paused")


async def _resume(actor: Actor, body: ScheduleBody) -> Done:
    if await actor.value(_IS_ENABLED, name=body.name):
        return Done(f"Nothing was done: schedule {body.name} is not paused.", "resumed")
    at = await actor.value("select worker.resume_schedule(%(name)s::text)", name=body.name)
    when = f" It fires next at {exact(at)}." if isinstance(at, datetime) else ""
    return Done(f"Schedule {body.name} is resumed.{when}", "resumed")


RUN = Action(
    name="schedule.run",
    path="/schedules/run",
    summary="Make the task of a schedule now.",
    body=ScheduleBody,
    run=_run,
    verb=lambda body: f"Run {body.name} now",
    consequence=lambda _: "Its task is made now, besides those of its times. Its next time stays what it is.",
    subject=lambda body: f"schedule {body.name}",
)

PAUSE = Action(
    name="schedule.pause",
    path="/schedules/pause",
    summary="Make no more tasks of a schedule.",
    body=ScheduleBody,
    run=_pause,
    verb=lambda body: f"Pause {body.name}",
    consequence=lambda _: "It creates no more tasks until it is resumed. Tasks that it has created continue.",
    subject=lambda body: f"schedule {body.name}",
)

RESUME = Action(
    name="schedule.resume",
    path="/schedules/resume",
    summary="Resume a paused schedule.",
    body=ScheduleBody,
    run=_resume,
    verb=lambda body: f"Resume {body.name}",
    consequence=lambda _: "It fires again, at its next time. What it missed is not made up for.",
    subject=lambda body: f"schedule {body.name}",
)
