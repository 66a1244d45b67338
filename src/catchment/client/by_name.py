"""Commands that are given by their names. Those that the app defines are checked as in a typed call."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from catchment.errors import RequestRefused
from catchment.model.check import shown
from catchment.task.commands import Commands
from catchment.task.item import check_command_name
from catchment.task.payload import dump_any
from catchment.task.request import Request
from catchment.task.verbs import AnyCommand

Verb = TypeVar("Verb", bound=Callable[..., Any])


def takes_names(verb: Verb) -> Verb:
    """Decorator: refuse a command itself, and arguments that are given by keywords, with how to call."""
    options = {name for name, one in inspect.signature(verb).parameters.items() if one.kind is one.KEYWORD_ONLY}

    def check(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        command = args[1] if len(args) > 1 else None
        if isinstance(command, Request):
            raise RequestRefused(
                f"the command {command.command_name} is given, expected the name of a command",
                hint=f"A command is called by itself: {command.command_name}.{verb.__name__}(…), options by .using(…).",
            )
        given = [name for name in kwargs if name not in options]
        if given:
            raise RequestRefused(
                f"{', '.join(given)} is no option of {verb.__name__}, expected {', '.join(sorted(options))}",
                hint=f"The arguments of {shown(command)} are a mapping: {{{given[0]!r}: …}}.",
            )

    if inspect.iscoroutinefunction(verb):

        @functools.wraps(verb)
        async def call_async(*args: Any, **kwargs: Any) -> Any:
            check(args, kwargs)
            return await verb(*args, **kwargs)

        return cast("Verb", call_async)

    @functools.wraps(verb)
    def call(*args: Any, **kwargs: Any) -> Any:
        check(args, kwargs)
        return verb(*args, **kwargs)

    return cast("Verb", call)


def find_command(commands: Commands, name: Any) -> AnyCommand:
    """The command of the app, or the name of one that another application has."""
    return commands.find(name) or check_command_name(name)


def dump_of(command: AnyCommand) -> Callable[[Mapping[str, Any]], str]:
    """What writes its arguments."""
    if not isinstance(command, str):
        return command.payload.dump
    return lambda arguments: dump_any(command, arguments)
