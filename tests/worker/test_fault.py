"""A worker that ends by a fault: what its handlers were running counts as interrupted, the rest does not."""

from __future__ import annotations

import asyncio

import pytest

from catchment.runtime.dispatcher import Dispatcher
from catchment.runtime.options import WorkerOptions
from tests.fixtures.worker import wait_until
from tests.worker import probe
from tests.worker.app import app, hold, plain, spin
from tests.worker.crew import Crew, is_alive


def test_only_tasks_that_were_running_count_an_interruption(
    crew: Crew, db: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker is broken off in the middle, as by an error in one of its parts."""
    monkeypatch.setenv(probe.FOLDER, str(crew.records.folder))
    running = [crew.enqueue(hold, key="hold") for _ in range(2)]
    threads = [crew.enqueue(plain, key="thread", seconds=2) for _ in range(3)]

    async def serve_and_break_off() -> None:
        worker = asyncio.create_task(Dispatcher(db, WorkerOptions(threads=1), commands=app.commands).run())
        wait = asyncio.to_thread(
            wait_until, lambda: len(crew.records.spans()) == 3 and crew.states() == {"processing": 5}
        )
        await wait
        worker.cancel()
        await asyncio.wait([worker])

    asyncio.run(serve_and_break_off())
    states = {task: crew.engine.task(task) for task in (*running, *threads)}
    assert [states[task]["state"] for task in running] == ["interrupted"] * 2
    assert sorted(states[task]["state"] for task in threads) == ["interrupted", "pending", "pending"]
    assert sorted(states[task]["attempt"] for task in threads) == [0, 0, 1]
    rows = crew.engine.conn.execute("select state, error ->> 'message' from worker.attempt").fetchall()
    assert rows == [("interrupted", "its worker failed")] * 3
    crew.engine.check()


def test_a_handler_in_a_process_dies_with_its_worker(crew: Crew) -> None:
    (worker,) = crew.hire()
    crew.engine.conn.execute("update worker.command_registry set timeout = null where command = 'spin'")
    crew.enqueue(spin, key="spin")
    wait_until(lambda: len(crew.records.spans("spin")) == 1)
    (run,) = crew.records.spans("spin")
    assert is_alive(run.pid)
    crew.kill(worker)
    wait_until(lambda: not is_alive(run.pid))
