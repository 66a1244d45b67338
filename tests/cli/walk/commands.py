"""All commands that there are, found as the program finds them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer.main
from typer.core import TyperGroup

from catchment.cli.main import app
from catchment.commands.group import LazyCommand


def commands() -> dict[str, Any]:
    """Every command by its words, those of plug-ins too."""
    return dict(_below(typer.main.get_command(app), ""))


def has_json(command: Any) -> bool:
    return any("--json" in parameter.opts for parameter in command.params)


def _below(group: Any, words: str) -> Iterator[tuple[str, Any]]:
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if isinstance(command, LazyCommand):
            command = command.load()
        if isinstance(command, TyperGroup):
            yield from _below(command, f"{words}{name} ")
        else:
            yield f"{words}{name}", command
