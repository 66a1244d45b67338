"""*Workers*: each process with its room, memory and loop lag, what it runs now, and whether it takes tasks."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from catchment.dashboard.database import Actor, Reader
from catchment.dashboard.screen import Action, Answer, Done, Query, Screen, sql
from catchment.errors import RequestRefused
from catchment.model.check import LARGEST_ID
from catchment.sql import ENGINE

MOST = 200
# Tasks that are shown of each worker.
EACH = 5


class WorkersQuery(Query):
    """The list takes no parameters."""


class RunningTask(Answer):
    """A task that a worker runs now."""

    id: int
    command: str
    queue: str
    attempt: int
    started_at: datetime


class WorkerRow(Answer):
    """A worker process. Memory and loop lag are as of its last heartbeat."""

    worker_id: int
    name: str
    pid: int | None
    version: str | None
    state: str = Field(description="live, paused, draining, or silent: its lease has ended.")
    requested_at: datetime | None = Field(description="Since when it is paused or drained.")
    requested_by: str | None
    queues: list[str] = Field(description="Queues whose SQL handlers it runs.")
    python_queues: list[str] = Field(description="Queues whose Python commands it runs.")
    python_commands: list[str] | None = Field(description="The Python commands that it has; null for all.")
    served: list[str] = Field(description="Queues that it has a command of.")
    capacity: int | None
    running: int | None = Field(description="Slots that are taken now: of one with Python commands, those of these.")
    memory_usage: float | None = Field(description="Share of the memory that it may use, 0 to 1.")
    loop_lag: float | None = Field(description="Seconds that its event loop was late at most, since the beat before.")
    started_at: datetime
    seen_at: datetime
    lease_until: datetime
    tasks: list[RunningTask] = Field(description="What it runs now: at most 5 tasks, the oldest first.")
    more_tasks: int = Field(description="How many more it runs.")


class WorkersAnswer(Answer):
    """Worker processes, silent ones first. At most 200."""

    workers: list[WorkerRow]
    capacity: int
    running: int
    has_more: bool
    start_command: str = Field(description="What starts a worker for the commands that are registered.")


async def read(reader: Reader, _query: WorkersQuery) -> WorkersAnswer:
    rows = await reader.rows(ENGINE.query("worker_list"), limit=MOST + 1)
    shown = rows[:MOST]
    tasks: dict[int, list[RunningTask]] = {}
    totals: dict[int, int] = {}
    for task in await reader.rows(
        "select * from worker.worker_tasks(%(ids)s::bigint[], %(each)s::integer)",
        ids=[row["worker_id"] for row in shown],
        each=EACH,
    ):
        worker_id: int = task.pop("worker_id")
        totals[worker_id] = task.pop("tasks")
        tasks.setdefault(worker_id, []).append(RunningTask(**task))
    workers = [
        WorkerRow(
            **row,
            tasks=tasks.get(row["worker_id"], []),
            more_tasks=totals.get(row["worker_id"], 0) - len(tasks.get(row["worker_id"], [])),
        )
        for row in shown
    ]
    live = [worker for worker in workers if worker.state != "silent"]
    return WorkersAnswer(
        workers=workers,
        capacity=sum(worker.capacity or 0 for worker in live),
        running=sum(worker.running or 0 for worker in live),
        has_more=len(rows) > MOST,
        start_command=await reader.value(sql("workers_start")),
    )


def _title(answer: WorkersAnswer) -> str:
    if not answer.workers:
        return "No workers"
    numbers = {state: sum(worker.state == state for worker in answer.workers) for state in _STATES}
    return (
        ", ".join(f"{number} {state}" for state, number in numbers.items() if number)
        + " "
        + ("worker" if len(answer.workers) == 1 else "workers")
    )


_STATES = ("live", "paused", "draining", "silent")

SCREEN = Screen(
    name="workers",
    path="/workers",
    summary="Worker processes, and what each runs now.",
    query=WorkersQuery,
    answer=WorkersAnswer,
    read=read,
    title=_title,
    template="workers.html",
    label="Workers",
    key="w",
)


class WorkerBody(Query):
    id: Annotated[int, Field(ge=1, le=LARGEST_ID, description="The id of a worker.")]


async def _ask(actor: Actor, body: WorkerBody, request: str) -> None:
    await actor.rows(
        "select worker.ask_worker(%(id)s::bigint, %(request)s::text, %(by)s::text)",
        id=body.id,
        request=request,
        by=actor.user.name,
    )


_ASKED = "select w.asked from worker.worker as w where w.worker_id = %(id)s::bigint"


async def _pause(actor: Actor, body: WorkerBody) -> Done:
    if await actor.value(_ASKED, id=body.id) == "drain":
        raise RequestRefused(f"worker {body.id} is draining: its process ends", hint="Resume it to keep it.")
    await _ask(actor, body, "pause")
    return Done(f"Worker {body.id} takes no more tasks.", "paused")


class ResumeBody(WorkerBody):
    seen: Literal["paused", "draining"] | None = Field(
        None, description="What the worker was seen to be. One that is something else by now is not resumed."
    )


async def _resume(actor: Actor, body: ResumeBody) -> Done:
    state = {"pause": "paused", "drain": "draining"}.get(await actor.value(_ASKED, id=body.id))
    if state is not None and body.seen not in (None, state):
        raise RequestRefused(
            f"worker {body.id} is {state}, and was {body.seen} when this was requested",
            hint="Look at the worker first.",
        )
    await _ask(actor, body, "resume")
    return Done(f"Worker {body.id} takes tasks again.", "live")


async def _drain(actor: Actor, body: WorkerBody) -> Done:
    await _ask(actor, body, "drain")
    return Done(f"Worker {body.id} takes no more tasks, and ends when those that it runs have.", "draining")


PAUSE = Action(
    name="worker.pause",
    path="/workers/{id}/pause",
    summary="Let a worker take no more tasks.",
    body=WorkerBody,
    run=_pause,
    verb=lambda body: f"Pause worker {body.id}",
    consequence=lambda body: (
        f"Worker {body.id} takes no more tasks until it is resumed. Its running tasks continue, and the process stays."
    ),
    subject=lambda body: f"worker {body.id}",
    back="/workers",
)

RESUME = Action(
    name="worker.resume",
    path="/workers/{id}/resume",
    summary="Let a worker take tasks again.",
    body=ResumeBody,
    run=_resume,
    verb=lambda body: f"Resume worker {body.id}",
    consequence=lambda body: f"Worker {body.id} takes tasks again, as far as it has room.",
    subject=lambda body: f"worker {body.id}",
    back="/workers",
)

DRAIN = Action(
    name="worker.drain",
    path="/workers/{id}/drain",
    summary="Stop a worker from taking tasks, and let it exit when its running tasks have ended.",
    body=WorkerBody,
    run=_drain,
    verb=lambda body: f"Drain worker {body.id}",
    consequence=lambda body: (
        f"Worker {body.id} takes no more tasks and waits for those that it runs, however long they take. Then its "
        "process ends, and nothing here starts it again."
    ),
    subject=lambda body: f"worker {body.id}",
    back="/workers",
    is_destructive=True,
)
