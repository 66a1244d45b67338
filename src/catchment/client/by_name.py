"""Commands that are given by their names. Those that the app defines are checked as in a typed call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from catchment.errors import RequestRefused
from catchment.task.commands import Commands
from catchment.task.item import check_command_name
from catchment.task.payload import dump_any
from catchment.task.request import Request
from catchment.task.verbs import AnyCommand


def find_command(commands: Commands, name: Any) -> AnyCommand:
    """The command of the app, or the name of one that another application has."""
    if isinstance(name, Request):
        command = name.command_name
        raise RequestRefused(
            f"the command {command} is given, expected the name of a command",
            hint=f"A command is enqueued by itself: {command}.enqueue(…), {command}.using(lane=…).enqueue(…).",
        )
    return commands.find(name) or check_command_name(name)


def dump_of(command: AnyCommand) -> Callable[[Mapping[str, Any]], str]:
    """What writes its arguments."""
    if not isinstance(command, str):
        return command.payload.dump
    return lambda arguments: dump_any(command, arguments)
