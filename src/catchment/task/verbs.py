"""What commands and tasks need of their app, in asyncio and without. The client provides it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from catchment.model.duration import Duration
from catchment.model.task import TaskId, TaskInfo
from catchment.model.why import Why
from catchment.task.item import Item
from catchment.task.options import CommandOptions
from catchment.task.payload import Payload
from catchment.task.returns import Returns
from catchment.task.task_options import TaskOptions


class Defined(Protocol):
    """A ``Command``, as far as asking for its tasks needs it."""

    name: str
    name_json: str
    options: CommandOptions
    payload: Payload
    returns: Returns

    @property
    def fn(self) -> Callable[..., Any]: ...

    @property
    def path(self) -> str: ...

    @property
    def join_fn(self) -> Callable[..., Any] | None: ...

    def check_join(self) -> None: ...


AnyCommand = Defined | str


class Verbs(Protocol):
    """The verbs in asyncio. A command given by name alone is taken as it is.

    A task of another command than ``expected`` raises ``TaskNotFound``.
    """

    @property
    def given_dsn(self) -> str | None: ...

    async def make(self, command: AnyCommand, payload: str, options: TaskOptions) -> TaskId: ...

    async def make_many(
        self, command: AnyCommand, items: Iterable[Item[Any]], options: TaskOptions, batch_size: int
    ) -> list[TaskId]: ...

    async def wait(
        self,
        task_id: int,
        timeout: Duration | None,  # noqa: ASYNC109 - names the state on expiry
        expected: str | None = None,
    ) -> Any: ...

    async def cancel(self, task_id: int, reason: str | None, expected: str | None = None) -> str: ...

    async def retry(self, task_id: int, expected: str | None = None) -> str: ...

    async def info(self, task_id: int, expected: str | None = None) -> TaskInfo: ...

    async def why(self, task_id: int, expected: str | None = None) -> Why: ...


class SyncVerbs(Protocol):
    """The same for code without asyncio."""

    @property
    def given_dsn(self) -> str | None: ...

    def make(self, command: AnyCommand, payload: str, options: TaskOptions) -> TaskId: ...

    def make_many(
        self, command: AnyCommand, items: Iterable[Item[Any]], options: TaskOptions, batch_size: int
    ) -> list[TaskId]: ...

    def wait(self, task_id: int, timeout: Duration | None, expected: str | None = None) -> Any: ...

    def cancel(self, task_id: int, reason: str | None, expected: str | None = None) -> str: ...

    def retry(self, task_id: int, expected: str | None = None) -> str: ...

    def info(self, task_id: int, expected: str | None = None) -> TaskInfo: ...

    def why(self, task_id: int, expected: str | None = None) -> Why: ...


class Client(Protocol):
    """An app, as far as its commands need it."""

    @property
    def verbs(self) -> Verbs: ...

    @property
    def sync_verbs(self) -> SyncVerbs: ...
