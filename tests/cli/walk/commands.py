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
    there = {words: command for words, command in commands().items() if words.startswith(under)}
    there = {words: command for words, command in there.items() if not words.startswith(but)}
    own = {words for words in answers if words.startswith(under) and not words.startswith(but)}
    printing = {words for words, command in there.items() if has_json(command)}
    differences = {
        "have no --json": there.keys() - printing - {*without},
        "are said to have no --json, and have it or are gone": {*without} - (there.keys() - printing),
        "have no schema in ANSWERS": printing - own,
        "have a schema, but no --json": own - printing,
        "have no case": printing - {*cases},
        "have a case, but no --json": {*cases} - printing,
    }
    wrong = [f"{', '.join(sorted(names))} {what}" for what, names in differences.items() if names]
    assert not wrong, "; ".join(wrong)


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
