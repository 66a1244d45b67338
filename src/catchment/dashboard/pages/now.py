"""*Now*: what needs a person first, then what runs, what waits and since when, per queue."""

from __future__ import annotations

from datetime import datetime, timedelta

from pydantic import Field

from catchment.dashboard.database import Actor, Reader
from catchment.dashboard.screen import Action, Answer, Done, Query, Screen, sql
from catchment.dashboard.words import count

RECENT = timedelta(minutes=15)


class NowQuery(Query):
    """The overview takes no parameters."""


class Attention(Answer):
    """Something that a person should look at, most urgent first."""

    level: str = Field(description="error or warning")
    subject: str
    finding: str
    remedy: str = Field(description="The command that mends it, or several to choose from, one per line.")
    task_id: int | None
    queue: str | None


class QueueNow(Answer):
    """A queue. Figures stop at 10,000."""

    queue: str
    mode: str
    concurrency: int
    paused_at: datetime | None
    paused_until: datetime | None
    ready: int
    oldest_ready_since: datetime | None
    later: int
    blocked: int
    processing: int
    oldest_processing_since: datetime | None
    waiting: int
    failed: int = Field(description="Tasks that failed in the last 15 minutes.")
    workers: int
    description: str | None
    ready_samples: list[int] = Field(description="Ready tasks in the last minutes, one figure in 5 seconds.")
    processing_samples: list[int] = Field(description="Running tasks, in the same way.")


class Failure(Answer):
    """A task that failed lately."""

    id: int
    command: str
    queue: str
    completed_at: datetime
    error: str | None


class NowAnswer(Answer):
    """The whole engine at a glance."""

    attention: list[Attention]
    queues: list[QueueNow]
    failures: list[Failure]
    running: int
    ready: int
    oldest_ready_since: datetime | None
    waiting: int
    held: int = Field(description="Tasks that wait for a time, a lane, a limit or another task.")
    failed: int = Field(description="Tasks that failed in the last 15 minutes.")
    workers: int
    starts_per_second: list[float] = Field(description="Attempts started per second, in the last minutes.")
    made_per_second: list[float] = Field(description="Tasks created per second, in the last minutes.")
    ready_samples: list[int] = Field(description="Ready tasks of all queues, in the last minutes.")
    running_samples: list[int]
    sampled_at: list[datetime]
    most: int = Field(description="Where counts stop.")


async def read(reader: Reader, _query: NowQuery) -> NowAnswer:
    rows = await reader.rows("select * from worker.queue_figures(worker.now() - %(recent)s::interval)", recent=RECENT)
    queues = [
        QueueNow(
            **row,
            ready_samples=reader.samples.series(row["queue"], "ready"),
            processing_samples=reader.samples.series(row["queue"], "processing"),
        )
        for row in rows
    ]
    attention = [Attention(**row) for row in await reader.rows(sql("attention"))]
    failures = [Failure(**row) for row in await reader.rows(sql("failures"), recent=RECENT)]
    ages = [queue.oldest_ready_since for queue in queues if queue.oldest_ready_since is not None]
    return NowAnswer(
        attention=attention,
        queues=sorted(queues, key=_urgency),
        failures=failures,
        running=sum(queue.processing for queue in queues),
        ready=sum(queue.ready for queue in queues),
        oldest_ready_since=min(ages, default=None),
        waiting=sum(queue.waiting for queue in queues),
        held=sum(queue.later + queue.blocked for queue in queues),
        failed=sum(queue.failed for queue in queues),
        workers=await reader.value("select count(*) from worker.worker where lease_until > worker.now()"),
        starts_per_second=reader.samples.rates("started"),
        made_per_second=reader.samples.rates("made"),
        ready_samples=reader.samples.totals("ready"),
        running_samples=reader.samples.totals("processing"),
        sampled_at=reader.samples.times(),
        most=reader.most,
    )


def _urgency(queue: QueueNow) -> tuple[bool, bool, str]:
    """Queues with something in them, or paused, come first, then by name: rows that keep changing places cannot be
    read."""
    figures = (queue.ready, queue.processing, queue.waiting, queue.blocked, queue.later, queue.failed)
    return (not any(figures) and queue.paused_at is None, queue.queue == "maintenance", queue.queue)


def _title(answer: NowAnswer) -> str:
    if answer.attention:
        number = len(answer.attention)
        return f"{number} {'thing needs' if number == 1 else 'things need'} attention"
    if answer.running or answer.ready:
        return f"{count(answer.running)} running, {count(answer.ready, answer.most)} ready"
    left = {"waiting": answer.waiting, "held": answer.held, "failed in the last 15 minutes": answer.failed}
    idle = [f"{count(number, answer.most)} {what}" for what, number in left.items() if number]
    return f"Idle, {', '.join(idle)}" if idle else "Nothing to do"


SCREEN = Screen(
    name="now",
    path="/",
    summary="What needs attention, and what is in each queue.",
    query=NowQuery,
    answer=NowAnswer,
    read=read,
    title=_title,
    template="now.html",
    label="Now",
    key="n",
)


class QueueBody(Query):
    queue: str = Field(min_length=1, max_length=200, description="A registered queue.")


_IS_PAUSED = """
select q.paused_at is not null and coalesce(q.paused_until > worker.now(), true)
  from worker.queue_registry as q where q.queue = %(queue)s::text
"""


async def _pause(actor: Actor, body: QueueBody) -> Done:
    if await actor.value(_IS_PAUSED, queue=body.queue):
        return Done(f"Nothing was done: queue {body.queue} is paused already.", "paused")
    await actor.rows(
        "select worker.pause_queue(%(queue)s::text, null::timestamptz, %(by)s::text)",
        queue=body.queue,
        by=actor.user.name,
    )
    return Done(f"Queue {body.queue} is paused.", "paused")


async def _resume(actor: Actor, body: QueueBody) -> Done:
    if await actor.value(_IS_PAUSED, queue=body.queue) is False:
        return Done(f"Nothing was done: queue {body.queue} is not paused.", "resumed")
    await actor.rows("select worker.resume_queue(%(queue)s::text)", queue=body.queue)
    return Done(f"Queue {body.queue} is resumed.", "resumed")


PAUSE = Action(
    name="queue.pause",
    path="/queues/pause",
    summary="Claim nothing more on a queue.",
    body=QueueBody,
    run=_pause,
    verb=lambda body: f"Pause queue {body.queue}",
    consequence=lambda body: f"No task of {body.queue} starts until it is resumed. Running tasks continue.",
    subject=lambda body: f"queue {body.queue}",
    back="/",
)

RESUME = Action(
    name="queue.resume",
    path="/queues/resume",
    summary="Claim on a queue again.",
    body=QueueBody,
    run=_resume,
    verb=lambda body: f"Resume queue {body.queue}",
    consequence=lambda body: f"Ready tasks of {body.queue} start at once, as far as workers have room.",
    subject=lambda body: f"queue {body.queue}",
    back="/",
)
