"""``async with app.worker():`` runs a worker on the event loop of a program, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from catchment import App, Context
from catchment.errors import CatchmentError, DefinitionRefused, RequestRefused, SchemaMismatch
from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect

SETTLED = {"completed", "failed", "cancelled"}


@dataclass
class Program:
    """A program with an app on a database of its own."""

    app: App
    engine: Engine
    started: asyncio.Event = field(default_factory=asyncio.Event)
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    async def settled(self, *tasks: int) -> list[str]:
        """Wait until these tasks are settled; returns their states."""
        async with asyncio.timeout(60):
            while not {self.engine.state(task) for task in tasks} <= SETTLED:  # noqa: ASYNC110 - nothing tells
                await asyncio.sleep(0.02)
        return [self.engine.state(task) for task in tasks]

    def workers(self) -> int:
        return self.engine.value("select count(*) from worker.worker")


@pytest.fixture
def program(db: str, connect: Connect) -> Iterator[Program]:
    made = Program(App(db, queue="here"), Engine(connect()))

    @made.app.command
    async def add(a: int, b: int) -> int:
        return a + b

    @made.app.command
    def add_in_thread(a: int, b: int) -> int:
        return a + b

    @made.app.command
    async def hold(ctx: Context) -> None:
        made.started.set()
        await made.gate.wait()

    @made.app.command(queue="elsewhere")
    async def nest() -> None:
        async with made.app.worker():
            pass

    yield made
    made.app.sync.close()


def test_a_worker_serves_inside_a_block_and_is_gone_after_it(program: Program) -> None:
    async def main() -> None:
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        async with program.app.worker(concurrency=2):
            assert program.workers() == 1
            tasks = [program.engine.enqueue(name, a=1, b=2) for name in ("add", "add_in_thread")]
            assert await program.settled(*tasks) == ["completed", "completed"]
            assert program.engine.value("select max_capacity from worker.worker") == 2
            assert {number: signal.getsignal(number) for number in handlers} == handlers
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())
    assert program.workers() == 0
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("catchment")]


def test_a_worker_in_the_lifespan_of_a_web_application(program: Program) -> None:
    """As FastAPI and Starlette do it: the block is held open by another task than the one that serves requests."""

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        async with program.app.worker(queues=["here"]):
            yield

    async def serve() -> None:
        async with lifespan(None):
            task = await asyncio.create_task(request())
            assert await program.settled(task) == ["completed"]
            assert program.engine.value("select queues from worker.worker") == ["here"]

    async def request() -> int:
        return program.engine.enqueue("add", a=1, b=2)

    asyncio.run(serve())
    assert program.workers() == 0


def test_a_worker_lives_from_one_cell_of_a_notebook_to_another(program: Program) -> None:
    """Each cell is a task of its own, on one loop."""
    stack = AsyncExitStack()
    with asyncio.Runner() as cells:
        cells.run(stack.enter_async_context(program.app.worker()))
        task = program.engine.enqueue("add", a=1, b=2)
        assert cells.run(program.settled(task)) == ["completed"]
        cells.run(stack.aclose())
    assert program.workers() == 0


def test_running_handlers_finish_at_the_end_of_the_block(program: Program) -> None:
    async def main() -> int:
        async with program.app.worker():
            task = program.engine.enqueue("hold")
            await program.started.wait()
            asyncio.get_running_loop().call_later(0.3, program.gate.set)
        return task

    assert program.engine.state(asyncio.run(main())) == "completed"


def test_a_cancelled_block_gives_running_tasks_back_at_once(program: Program) -> None:
    async def block() -> None:
        async with program.app.worker():
            program.engine.enqueue("hold")
            await asyncio.Event().wait()

    async def main() -> float:
        running = asyncio.create_task(block())
        await program.started.wait()
        running.cancel()
        began = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await running
        return time.monotonic() - began

    assert asyncio.run(main()) < 25  # the grace is 30 s
    assert set(program.engine.states().values()) == {"pending"}
    assert program.workers() == 0


def test_an_error_of_the_block_is_raised_as_it_is(program: Program) -> None:
    async def main() -> None:
        async with program.app.worker():
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        asyncio.run(main())
    assert program.workers() == 0


def test_a_block_is_cancelled_when_its_worker_ends_by_itself(program: Program) -> None:
    async def main() -> None:
        async with asyncio.timeout(60), program.app.worker():
            program.engine.conn.execute("update worker.version set compatible_from = 9999, release = '99.0'")
            program.engine.conn.execute("notify worker_tasks, 'none'")
            await asyncio.Event().wait()

    with pytest.raises(SchemaMismatch):
        asyncio.run(main())


def test_what_cannot_work_is_refused(program: Program, db: str) -> None:
    async def enter(app: App, **options: Any) -> None:
        async with app.worker(**options):
            raise AssertionError("it works")

    def run(app: App, **options: Any) -> str:
        with pytest.raises((CatchmentError, DefinitionRefused)) as refused:
            asyncio.run(enter(app, **options))
        return f"{refused.value} {refused.value.hint}"

    assert "without commands: there is nothing to run" in run(App(db))
    assert "no command of this app is on queue nowhere Its queues: here, elsewhere" in run(
        program.app, queues=["nowhere"]
    )
    assert "concurrency" in run(program.app, concurrency=0)
    expected = "expected the name of a queue, or a list of names"
    for queues in (5, [5], ["here", None], {"here": 1}, b"here", ""):
        assert f"queues is {queues!r}, {expected}" in run(program.app, queues=queues)
    program.engine.conn.execute("drop schema worker cascade")
    assert "catchment migrate" in run(program.app)


def test_a_worker_in_a_handler_is_refused(program: Program) -> None:
    async def main() -> int:
        async with program.app.worker():
            task = program.engine.enqueue("nest")
            await program.settled(task)
        return task

    assert "app.worker() in a handler" in program.engine.task(asyncio.run(main()))["error"]


def test_a_command_for_a_process_that_is_defined_in_the_program_itself_is_refused(db: str) -> None:
    def fold() -> None: ...

    fold.__module__, fold.__qualname__ = "__main__", "fold"
    app = App(db)
    app.command(executor="process")(fold)

    async def main() -> None:
        async with app.worker():
            pass

    with pytest.raises(DefinitionRefused, match="fold has executor='process' and is defined in the program itself"):
        asyncio.run(main())


def test_a_worker_is_entered_once_at_a_time(program: Program) -> None:
    async def main() -> None:
        worker = program.app.worker()
        async with worker:
            with pytest.raises(RequestRefused, match="runs already"):
                await worker.__aenter__()
        async with worker:
            assert program.workers() == 1

    asyncio.run(main())
