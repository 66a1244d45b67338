"""What every way to ask for a task has in common: the command, its payload as JSON text, and checked options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from pydantic_core import to_json

from catchment.errors import RequestRefused
from catchment.model.check import LARGEST_INTEGER, SMALLEST_INTEGER, check_text, is_text, shown
from catchment.model.duration import Duration, check_due
from catchment.task.payload import Payload, dump_any


class NamedCommand(Protocol):
    """A ``Command``, as far as asking for its tasks needs it."""

    name: str
    name_json: str
    payload: Payload


AnyCommand = NamedCommand | str


def command_name(command: AnyCommand) -> str:
    """The name of a command, whichever way it is given, checked."""
    if isinstance(command, str):
        if command:
            return check_text(command, name="command")
    elif hasattr(command, "name_json"):
        return command.name
    raise RequestRefused(
        f"command is {shown(command)}, expected a command or its name",
        hint="A function becomes a command by @app.command.",
    )


def command_json(command: AnyCommand) -> str:
    """That name as JSON text."""
    name = command_name(command)
    return to_json(name).decode() if isinstance(command, str) else command.name_json


def payload_json(command: AnyCommand, payload: Mapping[str, Any]) -> str:
    """The payload as JSON text. That of a command known by name alone can be any object."""
    return dump_any(command, payload) if isinstance(command, str) else command.payload.dump(payload)


def whole_payload(payload: Mapping[str, Any] | None, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The payload given as a whole, or by its parameters."""
    if payload is None:
        return arguments
    if arguments:
        raise RequestRefused(
            f"payload is given as a whole and {', '.join(arguments)} besides", hint="Pass one or the other."
        )
    return payload


def check_payloads(payloads: Any) -> Iterable[Mapping[str, Any]]:
    """Several payloads. Each is checked when it is written."""
    if isinstance(payloads, Mapping):
        raise RequestRefused("payloads is a mapping, expected a sequence of them", hint="Wrap it: [payload].")
    if not isinstance(payloads, Iterable) or isinstance(payloads, str | bytes):
        raise RequestRefused(f"payloads is {shown(payloads)}, expected a sequence of mappings")
    return payloads  # pyright: ignore[reportUnknownVariableType] - each is checked when it is written


def check_priority(priority: int | None) -> int | None:
    """A priority that the engine can store; smaller runs first."""
    if priority is None or (type(priority) is int and SMALLEST_INTEGER <= priority <= LARGEST_INTEGER):
        return priority
    raise RequestRefused(
        f"priority is {shown(priority)}, expected an integer from {SMALLEST_INTEGER} to {LARGEST_INTEGER};"
        " smaller runs first"
    )


def check_lane(lane: str | None) -> str | None:
    """A key that the engine can store."""
    if lane is None or (is_text(lane) and 0 < len(lane) <= 500):
        return lane
    raise RequestRefused(
        f"lane is {shown(lane)}, expected a text of 1 to 500 characters without NUL and lone surrogates",
        hint="Tasks of one lane run one after another; leave it out for a task that needs no order.",
    )


def due_time(at: datetime | None, delay: Duration | None) -> datetime | None:
    """When a recorded task is due, by this machine's clock."""
    span = check_due(at, delay)
    return at if span is None else datetime.now(UTC) + span
