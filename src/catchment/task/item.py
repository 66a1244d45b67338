"""An item of a bulk: the checked arguments of one task, made by ``command.item(…)``."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any, Generic, TypeVar, cast

from pydantic_core import to_json

from catchment.errors import RequestRefused
from catchment.model.check import check_text, shown
from catchment.task.payload import dump_any
from catchment.task.task_options import NO_OPTIONS, TaskOptions

R_co = TypeVar("R_co", covariant=True)


class Item(Generic[R_co]):
    """One task of ``enqueue_many`` or ``spawn_many``, with its options. Its arguments have been checked."""

    __slots__ = ("command_json", "name", "options", "payload")

    def __init__(self, name: str, command_json: str, payload: str, options: TaskOptions) -> None:
        self.name = name
        self.command_json = command_json
        self.payload = payload
        self.options = options

    def __repr__(self) -> str:
        return f"<Item of {self.name}>"


def item_by_name(name: Any, arguments: Mapping[str, Any], options: TaskOptions = NO_OPTIONS) -> Item[Any]:
    """An item of a command that is known by name alone: its arguments can be any object."""
    checked = check_command_name(name)
    return Item(checked, to_json(checked).decode(), dump_any(checked, arguments), options)


def check_command_name(name: Any) -> str:
    """The name of a command."""
    if isinstance(name, str) and name:
        return check_text(name, name="command")
    hint = _without_call(name, "{}, n=1") or "A function becomes a command by @app.command."
    raise RequestRefused(f"command is {shown(name)}, expected a command or its name", hint=hint)


def _without_call(given: object, instead: str) -> str | None:
    """What to write, if a command was called and the coroutine was given."""
    if not inspect.iscoroutine(given):
        return None
    given.close()  # else Python warns that it was never awaited
    return f"Do not call the command, write: {instead.format(given.__name__)}"


def check_items(items: Any) -> Iterable[Item[Any]]:
    """Several items; each is looked at when its turn comes."""
    if isinstance(items, Mapping | str | bytes) or not isinstance(items, Iterable):
        raise RequestRefused(
            f"items is {shown(cast(object, items))}, expected a sequence of items",
            hint="Make them: [command.item(…), …].",
        )
    return items  # pyright: ignore[reportUnknownVariableType] - each is checked by check_item


def check_item(item: Any) -> Item[Any]:
    """One of them."""
    if isinstance(item, Item):
        return item  # pyright: ignore[reportUnknownVariableType] - of any result
    hint = "Mappings are taken with the name of a command: app.enqueue_many('name', [{…}, …])."
    raise RequestRefused(
        f"an item is {shown(item)}, expected what command.item(…) returns",
        hint=_without_call(item, "{}.item(n=1)") or hint,
    )


def check_mappings(mappings: Any) -> Iterable[Mapping[str, Any]]:
    """Arguments of several tasks of a command that is given by name. Each is checked when it is written."""
    if isinstance(mappings, Mapping):
        raise RequestRefused("arguments is a mapping, expected a sequence of them", hint="Wrap it: [arguments].")
    if not isinstance(mappings, Iterable) or isinstance(mappings, str | bytes):
        raise RequestRefused(f"arguments is {shown(mappings)}, expected a sequence of mappings")
    return mappings  # pyright: ignore[reportUnknownVariableType] - each is checked when it is written
