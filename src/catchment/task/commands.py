"""The commands and middlewares of one app, or of several that are served together."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from catchment.errors import CommandNotRegistered, DefinitionRefused
from catchment.model.duration import Duration, as_timedelta
from catchment.task.collector import Collector
from catchment.task.command import Command, path_of
from catchment.task.limit import QueueOptions
from catchment.task.middleware import Middleware
from catchment.task.options import check_name
from catchment.task.project import project_of
from catchment.task.schedule import Schedule
from catchment.task.verbs import Defined

AnyCommand = Command[..., Any]


class Commands:
    """The registry of one app, by name, in the order of definition."""

    def __init__(self) -> None:
        self._by_name: dict[str, AnyCommand] = {}
        self.middlewares: list[Middleware] = []
        self.collectors: list[Collector] = []
        self.schedules: dict[str, Schedule] = {}
        self._queues: dict[str, QueueOptions] = {}
        self._parts: dict[str, Commands] = {}

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

    def add_schedule(self, schedule: Schedule) -> None:
        """Take a schedule in; a second one of the same name is refused."""
        if schedule.name in self.schedules:
            raise DefinitionRefused(
                f"schedule {schedule.name} is defined twice, for {self.schedules[schedule.name].command} and for"
                f" {schedule.command}",
                hint="Give one of them another name: app.schedule(name=…).",
            )
        self.schedules[schedule.name] = schedule

    def unite(self, place: str, part: Commands, places: dict[str, str]) -> None:
        """Take in all commands of an app at ``place``; each keeps the middlewares of its app. ``places`` says where the
        commands and queues of other apps came from."""
        for command in part:
            if command.name in self._by_name:
                raise DefinitionRefused(
                    f"command {command.name} is defined in {places[command.name]} and in {place}:"
                    f" as {self._by_name[command.name].path} and as {command.path}",
                    hint="Give one of them another name (@app.command(name=…)), or run a worker for each app.",
                )
            self.add(command)
            self._parts[command.name] = part
            places[command.name] = place
        for name, options in part._queues.items():
            if name in self._queues and self._queues[name] != options:
                raise DefinitionRefused(
                    f"queue {name} is described in {places[f'queue {name}']} and in {place}, in two ways",
                    hint="Describe it in one of them: app.queue(…).",
                )
            self._queues[name] = options
            places[f"queue {name}"] = place
        for schedule in part.schedules.values():
            if schedule.name in self.schedules:
                raise DefinitionRefused(
                    f"schedule {schedule.name} is defined in {places[f'schedule {schedule.name}']} and in {place}",
                    hint="Give one of them another name (app.schedule(name=…)), or run a worker for each app.",
                )
            self.add_schedule(schedule)
            places[f"schedule {schedule.name}"] = place
        self.collectors += [collector for collector in part.collectors if collector not in self.collectors]

    def middlewares_of(self, name: str) -> Sequence[Middleware]:
        """The middlewares of the app that has this command; later additions are seen."""
        return self._parts.get(name, self).middlewares

    def get(self, name: str) -> AnyCommand:
        """The command of this name; raises ``CommandNotRegistered``."""
        try:
            return self._by_name[name]
        except KeyError:
            hint = self.did_you_mean(name) or f"It has: {', '.join(self._by_name) or 'none'}."
            raise CommandNotRegistered(f"this app has no command {name}", hint=hint) from None

    def find(self, name: object) -> AnyCommand | None:
        """The command of this name, or None."""
        return self._by_name.get(name) if isinstance(name, str) else None

    def did_you_mean(self, name: str) -> str | None:
        """A hint with the command whose name is closest, or None."""
        alike = difflib.get_close_matches(name, self._by_name, n=1)
        return f"Did you mean {alike[0]}?" if alike else None

    def __iter__(self) -> Iterator[AnyCommand]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    @property
    def is_empty(self) -> bool:
        """Is there nothing that a worker could run or show: no command, no queue, no collector?"""
        return not (self._by_name or self._queues or self.collectors)

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

    def schedule_definitions(self) -> list[dict[str, Any]]:
        """All schedules as ``worker.declare_schedules`` takes them."""
        return [schedule.definition() for schedule in self.schedules.values()]

    def definitions(self, *, with_project: bool = False) -> list[dict[str, Any]]:
        """All commands as ``worker.register_commands`` takes them, with the schemas of their payloads."""
        return [
            {**definition(command, with_project=with_project), "payload_schema": command.payload.schema()}
            for command in self
        ]


def united(apps: Mapping[str, Commands]) -> Commands:
    """The commands of several apps, given by where they are (``module:attribute``), for one worker.

    Raises ``DefinitionRefused`` when two of them have a command of the same name, or describe a queue in two ways.
    """
    if len(apps) == 1:
        return next(iter(apps.values()))
    all_of_them = Commands()
    places: dict[str, str] = {}
    for place, part in apps.items():
        all_of_them.unite(place, part, places)
    return all_of_them


def definition(command: Defined, *, with_project: bool = False) -> dict[str, Any]:
    """One command as ``worker.register_commands`` takes it; with its project, for a server that several may share.
    Without the schema of its payload: an enqueue does not make that, and a worker that starts does.

    Raises ``DefinitionRefused`` if its join was forgotten.
    """
    command.check_join()
    options = command.options
    join = command.join_fn
    limit = options.limit
    return {
        "command": command.name,
        "queue": options.queue,
        "handler_procedure": command.path,
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
        **({"project": project_of(command.fn.__module__)} if with_project else {}),
    }


def _interval(span: Duration) -> str:
    """As an interval that PostgreSQL reads exactly."""
    return f"{as_timedelta(span, name='span') // timedelta(microseconds=1)} microseconds"
