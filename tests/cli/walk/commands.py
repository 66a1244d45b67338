"""All commands that there are, found as the program finds them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import typer.main
from typer.core import TyperGroup

from catchment.cli.main import app
from catchment.commands.group import LazyCommand


def commands() -> dict[str, Any]:
    """Every command by its words, those of plug-ins too. Hidden ones are other names of those."""
    return dict(_below(typer.main.get_command(app), ""))


def check_complete(
    answers: Collection[str],
    cases: Collection[str],
    without: Collection[str],
    *,
    under: str = "",
    but: tuple[str, ...] = (),
) -> None:
    """Every command whose words begin so prints JSON, has a schema, and a case in the walk; but for those ``without``,
    which are named because they print none."""
    there = {
        words: command for words, command in commands().items() if words.startswith(under) and not words.startswith(but)
    }
    own = {words for words in answers if words.startswith(under) and not words.startswith(but)}
    assert {words for words, command in there.items() if not has_json(command)} == set(without)
    assert {words for words, command in there.items() if has_json(command)} == own
    assert own == set(cases)


def has_json(command: Any) -> bool:
    return any("--json" in parameter.opts for parameter in command.params)


def _below(group: Any, words: str) -> Iterator[tuple[str, Any]]:
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if isinstance(command, LazyCommand):
            command = command.load()
        if isinstance(command, TyperGroup):
            yield from _below(command, f"{words}{name} ")
        elif not command.hidden:
            yield f"{words}{name}", command
