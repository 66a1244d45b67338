"""What a handler asks its context for, as items: by a request and its arguments, or by the name of a command."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from catchment.errors import RequestRefused
from catchment.task.item import Item, check_command_name, check_item, check_items, check_mappings, item_by_name
from catchment.task.request import Request
from catchment.task.task_options import NO_OPTIONS


def asked(command: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Item[Any]:
    """One task. With a name, the arguments are a mapping, and keywords are options."""
    if isinstance(command, Request):
        return cast("Request[..., Any]", command).item(*args, **kwargs)
    check_command_name(command)
    if len(args) > 1:
        raise RequestRefused(
            f"{shown_command(command)} is given with {len(args)} arguments, expected one mapping of them all"
        )
    arguments: Any = args[0] if args and args[0] is not None else {}
    return item_by_name(command, arguments, _options(command, kwargs))


def asked_many(items: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterable[Item[Any]]:
    """Several tasks. With a name, their arguments are mappings, and keywords are options."""
    if isinstance(items, str):
        options = _options(items, kwargs)
        mappings = check_mappings(args[0] if args else None)
        return (item_by_name(items, mapping, options) for mapping in mappings)
    if isinstance(items, Request):
        raise RequestRefused(
            f"spawn_many is given {shown_command(items)}, expected items of it",
            hint=f"Make them: ctx.spawn_many({shown_command(items)}.item(…) for … in …).",
        )
    if args or kwargs:
        given = ", ".join([*map(repr, args), *kwargs])
        raise RequestRefused(
            f"items are given with {given} besides", hint="Options are given by command.using(…).item(…)."
        )
    return (check_item(item) for item in check_items(items))


def shown_command(command: Any) -> str:
    """The name of what is requested, as far as it has one."""
    if isinstance(command, Request):
        return command.command_name
    return command if isinstance(command, str) else "items"


def _options(command: Any, kwargs: dict[str, Any]) -> Any:
    try:
        return NO_OPTIONS.using(**kwargs) if kwargs else NO_OPTIONS
    except TypeError as error:
        raise RequestRefused(
            f"{', '.join(kwargs)} is given with {shown_command(command)}, expected options: lane, priority, at, delay",
            hint="The arguments of a command that is given by its name are a mapping: ctx.spawn('name', {…}).",
        ) from error
