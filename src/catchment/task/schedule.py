"""Schedules of an app: commands that are to run again and again, checked when they are defined."""

from __future__ import annotations

import difflib
import json
import zoneinfo
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Literal, get_args

from catchment.errors import ArgumentsInvalid, DefinitionRefused
from catchment.model.check import is_one_of, shown
from catchment.model.cron import read_cron
from catchment.model.duration import Duration
from catchment.store.foreign.types import OWN
from catchment.task.command import Command
from catchment.task.item import Item
from catchment.task.limit import as_defined_timedelta
from catchment.task.options import check_name

Missed = Literal["one", "all", "skip"]
Overlap = Literal["allow", "skip", "wait", "cancel"]
Zone = str | tzinfo

_ANY_TIME = datetime(2026, 1, 1, 12, 34, 56, 789, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """When a schedule fires, and what becomes of times that were missed or come too soon."""

    cron: str | None
    every: timedelta | None
    timezone: str
    missed: Missed
    overlap: Overlap
    due: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A schedule in the code of an app; ``app.commands.schedules`` has them by name."""

    name: str
    command: str
    payload: str
    rhythm: Rhythm
    lane: str | None = None
    priority: int | None = None

    def definition(self) -> dict[str, Any]:
        """The schedule as ``worker.declare_schedules`` takes it."""
        rhythm = self.rhythm
        every = None if rhythm.every is None else f"{rhythm.every // timedelta(microseconds=1)} microseconds"
        return {
            "name": self.name,
            "command": self.command,
            "payload": {key: value for key, value in json.loads(self.payload).items() if key != rhythm.due},
            "cron": rhythm.cron,
            "every": every,
            "timezone": rhythm.timezone,
            "missed": rhythm.missed,
            "overlap": rhythm.overlap,
            "due_key": rhythm.due,
            "lane": self.lane,
            "priority": self.priority,
        }


def read_rhythm(
    *, cron: str | None, every: Duration | None, tz: Zone | None, missed: str, overlap: str, due: str | None
) -> Rhythm:
    """The options of a schedule, checked; raises ``DefinitionRefused``."""
    if (cron is None) == (every is None):
        given = "neither cron nor every" if cron is None else "both cron and every"
        raise DefinitionRefused(f"a schedule has {given}", hint='Pass one: cron="0 6 * * *", or every=300 in seconds.')
    for name, value, known in (("missed", missed, get_args(Missed)), ("overlap", overlap, get_args(Overlap))):
        if not is_one_of(value, known):
            raise DefinitionRefused(f"{name} of a schedule is {shown(value)}, expected one of {known}")
    return Rhythm(
        cron=None if cron is None else _checked_cron(cron),
        every=None if every is None else _checked_every(every, tz),
        timezone="UTC" if tz is None else _checked_zone(tz),
        missed=missed,  # pyright: ignore[reportArgumentType] - it is one of them
        overlap=overlap,  # pyright: ignore[reportArgumentType] - it is one of them
        due=due,
    )


def schedule_of_command(command: Command[..., Any, Any], name: str | None, rhythm: Rhythm) -> Schedule:
    """A schedule of a command that needs no arguments but the time; raises ``DefinitionRefused``."""
    arguments = {} if rhythm.due is None else {_due_parameter(command, rhythm.due): _ANY_TIME}
    try:
        payload = command.payload.dump(arguments)
    except ArgumentsInvalid as error:
        raise DefinitionRefused(
            f"a schedule of {command.name} has no arguments for it: {error}",
            hint=f"Give the parameters defaults, or pass arguments: app.schedule({command.name}.item(…), …).",
        ) from error
    return _schedule(command.name, payload, name, rhythm)


def schedule_of_item(command: Command[..., Any, Any], item: Item[Any], name: str | None, rhythm: Rhythm) -> Schedule:
    """A schedule with the arguments, lane and priority of an item; raises ``DefinitionRefused``."""
    options = item.options
    for option, value in (("at", options.at), ("delay", options.delay), ("app", options.app)):
        if value is not None:
            raise DefinitionRefused(f"the item of a schedule has {option}=, expected lane= and priority= alone")
    if options.conn is not OWN:
        raise DefinitionRefused("the item of a schedule has conn=, expected lane= and priority= alone")
    if rhythm.due is not None:
        arguments = {**command.payload.load(item.payload), _due_parameter(command, rhythm.due): _ANY_TIME}
        _check_takes_time(command, rhythm.due, arguments)
    return _schedule(item.name, item.payload, name, rhythm, lane=options.lane, priority=options.priority)


def _schedule(
    command: str,
    payload: str,
    name: str | None,
    rhythm: Rhythm,
    *,
    lane: str | None = None,
    priority: int | None = None,
) -> Schedule:
    chosen = command if name is None else name
    check_name("the name of a schedule", chosen)
    return Schedule(name=chosen, command=command, payload=payload, rhythm=rhythm, lane=lane, priority=priority)


def _due_parameter(command: Command[..., Any, Any], due: str) -> str:
    if due in command.payload.names:
        return due
    raise DefinitionRefused(
        f"due of a schedule is {shown(due)}, expected a parameter of {command.name}",
        hint=f"Its parameters are: {', '.join(command.payload.names) or 'none'}.",
    )


def _check_takes_time(command: Command[..., Any, Any], due: str, arguments: dict[str, Any]) -> None:
    try:
        command.payload.dump(arguments)
    except ArgumentsInvalid as error:
        raise DefinitionRefused(
            f"due of a schedule is {due!r}, which takes no time: {error}", hint=f"Annotate it: {due}: datetime."
        ) from error


def _checked_cron(cron: Any) -> str:
    if not isinstance(cron, str):
        raise DefinitionRefused(f"cron is {shown(cron)}, expected a text", hint='As in: cron="30 4 * * mon"')
    read_cron(cron)
    return cron


def _checked_every(every: Any, tz: Zone | None) -> timedelta:
    if tz is not None:
        raise DefinitionRefused(
            "a schedule has every and tz: an interval has no time zone", hint="Leave tz out, or use cron."
        )
    span = as_defined_timedelta(every, name="every of a schedule")
    if span < timedelta(seconds=1):
        raise DefinitionRefused(f"every of a schedule is {shown(every)}, expected one second to 100 years")
    return span


def _checked_zone(tz: Any) -> str:
    """The name of a zone. Where this machine has no data of zones, only the server can say whether there is one."""
    key = tz if isinstance(tz, str) else getattr(tz, "key", "UTC" if tz is UTC else None)
    if not isinstance(key, str):
        raise DefinitionRefused(
            f"tz is {shown(tz)}, expected the name of a time zone or a ZoneInfo", hint='As in: tz="Europe/Oslo"'
        )
    known = zoneinfo.available_timezones()
    if not known or key in known:
        return key
    alike = difflib.get_close_matches(key, sorted(known), n=1)
    same = [name for name in known if name.lower() == key.lower()] or alike
    hint = f"Did you mean {same[0]}?" if same else "Use a name such as Europe/Oslo."
    raise DefinitionRefused(f"time zone {key!r} is unknown", hint=hint)
