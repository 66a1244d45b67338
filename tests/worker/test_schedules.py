"""Schedules of an app with real workers: registered at their start, fired by their upkeep, gone with the code."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from catchment import App, NameTaken
from tests.fixtures.cli import Run, read_json
from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.05)


def test_a_worker_registers_schedules_and_fires_them_with_their_times(db: str, connect: Connect, cli: Run) -> None:
    app, engine, times = App(db), Engine(connect()), list[tuple[str, datetime]]()

    @app.schedule(every=1, due="at")
    @app.schedule(cron="0 6 * * *", tz="Europe/Oslo", due="at", name="daily")
    @app.command
    async def note(at: datetime, kind: str = "plain") -> None:
        times.append((kind, at))

    app.schedule(note.item(datetime.now(UTC), kind="other"), every=timedelta(seconds=1), due="at", name="other")

    async def main() -> None:
        async with app, app.worker():
            await _until(lambda: len(times) >= 4 and len({kind for kind, _ in times}) == 2)
            listed = {row["name"]: row for row in read_json(cli("schedule", "list", "--json"))}
            assert listed["daily"]["fires"] == "every day at 06:00 Europe/Oslo"
            assert all(listed[name]["is_in_code"] for name in ("note", "other", "daily"))
            cli("schedule", "pause", "daily")

    asyncio.run(main())
    assert all(at.utcoffset() == timedelta() for _, at in times)
    plain = [at for kind, at in times if kind == "plain"]
    assert all((later - sooner) % timedelta(seconds=1) == timedelta() for sooner, later in itertools.pairwise(plain))
    history = read_json(cli("schedule", "history", "note", "--json"))
    assert [datetime.fromisoformat(row["due_at"]) for row in reversed(history)][: len(plain)] == plain
    assert {row["outcome"] for row in history} == {"made"}
    # Without a worker that has it, it is listed and does not fire.
    assert engine.value("select count(*) from worker.due_schedules() where is_declared") == 0
    said = cli("schedule", "list").stdout
    assert "not in code" in said
    assert "paused" in said


def test_three_hours_without_a_worker(db: str, connect: Connect, cli: Run) -> None:
    app, engine = App(db), Engine(connect())

    @app.schedule(every=3600, name="one")
    @app.schedule(every=3600, missed="all", name="all")
    @app.schedule(every=3600, missed="skip", name="skip")
    @app.command
    async def act() -> None: ...

    def fates(name: str) -> list[str]:
        return [row["outcome"] for row in read_json(cli("schedule", "history", name, "--json"))]

    async def start(condition: Callable[[], bool]) -> None:
        async with app, app.worker():
            await _until(condition)

    asyncio.run(
        start(lambda: engine.value("select count(*) from worker.schedule where is_declared and next_at > now()") == 3)
    )
    engine.conn.execute("update worker.schedule set next_at = now() - interval '2 hours 30 minutes' where is_declared")
    asyncio.run(start(lambda: engine.value("select count(*) from worker.schedule_run") == 5))
    assert (fates("one"), fates("all"), fates("skip")) == (["made"], ["made"] * 3, ["missed"])
    said = cli("schedule", "history", "skip").stdout
    assert "missed" in said
    assert cli("schedule", "history", "none", code=1).stderr.count("Did you mean one?")


def test_a_worker_does_not_start_with_a_name_that_sql_has(db: str, connect: Connect) -> None:
    app = App(db)

    @app.schedule(every=3600, name="task_cleanup")
    @app.command
    async def act() -> None: ...

    async def main() -> None:
        with pytest.raises(NameTaken, match="schedule task_cleanup was made by SQL"):
            async with app.worker():
                pass
        await app.close()

    asyncio.run(main())
    assert Engine(connect()).value("select count(*) from worker.worker") == 0


@pytest.mark.long
def test_runs_of_a_worker_overlap_as_their_policy_says(db: str, connect: Connect) -> None:
    app, engine = App(db), Engine(connect())
    ended, running = list[int](), set[object]()

    @app.schedule(every=1, overlap="wait")
    @app.command
    async def alone() -> None:
        running.add(me := object())
        await asyncio.sleep(1.2)
        ended.append(len(running))
        running.discard(me)

    @app.schedule(every=1, overlap="cancel")
    @app.command
    async def endless() -> None:
        await asyncio.Event().wait()

    def cancelled() -> int:
        return engine.value("select count(*) from worker.tasks where command = 'endless' and state = 'cancelled'")

    async def main() -> None:
        async with app, app.worker():
            await _until(lambda: len(ended) >= 2 and cancelled() >= 2)
            is_open = "select count(*) from worker.tasks where command = 'endless' and state = 'processing'"
            await _until(lambda: engine.value(is_open) == 1)

    asyncio.run(main())
    assert set(ended) == {1}
