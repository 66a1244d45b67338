"""The commands and middlewares of one app."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from catchment.errors import CommandNotRegistered, DefinitionRefused
from catchment.task.collector import Collector
from catchment.task.command import Command, path_of
from catchment.task.limit import QueueOptions
from catchment.task.middleware import Middleware
from catchment.task.options import check_name

AnyCommand = Command[..., Any]


class Commands:
    """The registry of one app, by name, in the order of definition."""

    def __init__(self) -> None:
        self._by_name: dict[str, AnyCommand] = {}
        self.middlewares: list[Middleware] = []
        self.collectors: list[Collector] = []
        self._queues: dict[str, QueueOptions] = {}

    def add(self, command: AnyCommand) -> None:
        """Take a command in; a second one of the same name is refused."""
        taken = self._by_name.get(command.name)
        if taken is not None:
            raise DefinitionRefused(
                f"command {command.name} is defined twice: as {taken.path} and as {command.path}",
                hint="Give one of them another name: @app.command(name=…).",
            )
        self._by_name[command.name] = command

    def add_queue(self, name: str, options: QueueOptions) -> None:
        """Say how a queue is run; saying it twice is refused."""
        check_name("queue", name)
        if name in self._queues:
            raise DefinitionRefused(f"queue {name} is described twice", hint="Describe each queue in one place.")
        self._queues[name] = options

    def get(self, name: str) -> AnyCommand:
        """The command of this name; raises ``CommandNotRegistered``."""
        try:
            return self._by_name[name]
        except KeyError:
            raise CommandNotRegistered(
                f"this app has no command {name}", hint=f"It has: {', '.join(self._by_name) or 'none'}."
            ) from None

    def __iter__(self) -> Iterator[AnyCommand]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all commands."""
        return tuple(self._by_name)

    @property
    def queues(self) -> tuple[str, ...]:
        """The queues of all commands, each once."""
        return tuple(dict.fromkeys(command.options.queue for command in self))

    def queue_definitions(self) -> list[dict[str, Any]]:
        """All queues as ``worker.register_commands`` takes them."""
        return [self.queue_definition(name) for name in dict.fromkeys((*self.queues, *self._queues))]

    def queue_definition(self, name: str) -> dict[str, Any]:
        """One queue as ``worker.register_commands`` takes it."""
        return self._queues.get(name, QueueOptions()).definition(name)

    def definitions(self) -> list[dict[str, Any]]:
        """All commands as ``worker.register_commands`` takes them."""
        return [definition(command) for command in self]


def definition(command: AnyCommand) -> dict[str, Any]:
    """One command as ``worker.register_commands`` takes it."""
    options = command.options
    join = command.join_fn
    limit = options.limit
    return {
        "command": command.name,
        "queue": options.queue,
        "join_procedure": None if join is None else path_of(join),
        "priority": options.priority,
        "max_attempts": options.max_attempts,
        "retry_delay": _interval(options.retry.delay),
        "retry_factor": options.retry.factor,
        "retry_max_delay": _interval(options.retry.max_delay),
        "retry_jitter": options.retry.jitter,
        "timeout": None if options.timeout is None else _interval(options.timeout),
        "dedup": None if options.dedup is None else list(options.dedup),
        "merge": {k: v if isinstance(v, str) else dict(v) for k, v in options.merge.items()},
        "on_failure": options.on_failure,
        "limit_key": None if limit is None else list(limit.keys),
        "max_running": None if limit is None else limit.max_running,
        "rate": None if limit is None else limit.rate,
        "rate_per": None if limit is None else _interval(limit.per),
        "description": options.description,
    }


def _interval(span: timedelta) -> str:
    """As an interval that PostgreSQL reads exactly."""
    return f"{span // timedelta(microseconds=1)} microseconds"
