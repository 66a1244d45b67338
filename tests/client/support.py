"""An app of a test's own database, with a few commands, and a worker driven by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from catchment import App, Command, Task
from tests.fixtures.engine import Engine
from tests.sql.support import Hand

QUEUE = "mail"


@dataclass(frozen=True)
class Shop:
    """An app, its commands, and the engine behind it through a connection of the test."""

    app: App
    send: Command[..., Any]
    gather: Command[..., Any]
    engine: Engine

    @property
    def hand(self) -> Hand:
        """A worker of the app's queue whose steps the test takes."""
        return Hand.hired(self.engine.conn)

    def run(self, verb: Callable[[], Awaitable[Any]]) -> Any:
        """Run an async verb of the app, and close its connections. Of tasks that it makes, this returns the ids."""

        async def go() -> Any:
            async with self.app:
                return await verb()

        made = asyncio.run(go())
        if isinstance(made, list) and made and isinstance(made[0], Task):
            return [task.id for task in made]
        return made.id if isinstance(made, Task) else made

    def column(self, name: str) -> list[Any]:
        """One column of all tasks, by id."""
        return [row[0] for row in self.engine.conn.execute(f"select {name} from worker.tasks order by id")]


def open_shop(dsn: str, engine: Engine) -> Shop:
    """An app with a plain command and a deduplicated one."""
    app = App(dsn)

    @app.command(queue=QUEUE, max_attempts=3)
    async def send(to: str, body: str = "") -> int:
        return len(to + body)

    @app.command(queue=QUEUE, dedup="customer", merge={"items": "union"})
    def gather(customer: int, items: list[int]) -> None: ...

    return Shop(app, send, gather, engine)


async def until(condition: Callable[[], object]) -> None:
    """Let others run until the condition holds."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - the condition is not ours to signal
            await asyncio.sleep(0)
