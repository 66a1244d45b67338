"""Handlers run here: in this process, one at a time, by the executor that workers use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from catchment.client.app import App
from catchment.errors import RequestRefused
from catchment.model.check import shown
from catchment.runtime.events import Events
from catchment.runtime.executor import Executor
from catchment.runtime.metrics import Metrics
from catchment.runtime.pools import Json, Pools
from catchment.runtime.port import HandlerPort
from catchment.task.attempt import Attempt
from catchment.task.commands import Commands
from catchment.task.port import LocalPort

T = TypeVar("T")
THREADS = 4


def check_app(app: Any) -> None:
    """Refuse what is no app; import the rest of one."""
    if not isinstance(app, App):
        raise RequestRefused(f"app is {shown(app)}, expected a catchment.App")
    app.load()


class PoolsHere(Pools):
    """Threads as in a worker. A handler made for a process or for Ray gets one too: so a test sees what it does."""

    def __init__(self, commands: Commands) -> None:
        super().__init__(threads=THREADS, processes=1)
        self._by_path = {command.path: command for command in commands}

    async def run_in_process(
        self,
        path: str,
        payload: str,
        *,
        starts: Callable[[], None],
        set_up: str | None = None,  # noqa: ARG002 - this process is set up
    ) -> Json:
        command = self._by_path[path]
        arguments = command.payload.load(payload)
        plain = command.surroundings.around(command.fn)
        value = await self.run_in_thread(plain, arguments, waits=lambda: False, starts=starts)
        return Json(command.returns.dump(value))

    async def run_on_ray(
        self,
        path: str,
        payload: str,
        *,
        starts: Callable[[], None],
        name: str,  # noqa: ARG002
        resources: Mapping[str, Any],  # noqa: ARG002 - no cluster is needed
        set_up: str | None = None,
    ) -> Json:
        return await self.run_in_process(path, payload, starts=starts, set_up=set_up)


class PortHere(LocalPort):
    """A port for tests: no connection is ever lost, and no handler is left behind."""

    def loss(self, context: Attempt, error: BaseException) -> Exception | None:  # noqa: ARG002 - it is the test's
        return None

    def is_waiting(self, context: Attempt) -> bool:  # noqa: ARG002
        return False

    async def hangs(self, context: Attempt) -> bool:  # noqa: ARG002
        return False

    def abandon(self, context: Attempt) -> None:
        """No handler is left behind."""

    def must_wait(self, command: str) -> bool:  # noqa: ARG002 - one handler runs at a time
        return False

    async def enter(self) -> None:
        """Nothing to wait for."""


def executor_here(commands: Commands, port: HandlerPort, pools: Pools) -> Executor:
    """An executor whose attempts are recorded by the caller of its ``run_one``."""
    return Executor(
        commands,
        port=port,
        pools=pools,
        metrics=Metrics(),
        events=Events(),
        finish=lambda _: None,
        drop=lambda _: None,
    )


def run_to_end(work: Coroutine[Any, Any, T], *, name: str) -> T:
    """Run a coroutine on a new event loop; refused where one runs already."""
    with suppress(RuntimeError):  # not run while it is handled: it would be the context of each error of a handler
        asyncio.get_running_loop()
        work.close()
        raise RequestRefused(f"{name} was called where an event loop runs", hint=f"Use: await {name}_async(…)")
    return asyncio.run(work)
