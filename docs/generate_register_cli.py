"""Writes docs/reference/register_cli.md from the commands themselves: ``python docs/generate_register_cli.py``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main
from typer.core import TyperGroup

from catchment.commands.group import LazyCommand
from catchment_register.cli.main import app

PAGE = Path(__file__).parent / "reference" / "register_cli.md"
INTRO = """\
# Commands of the register

`catchment register …`. All but `generate` take `--dsn` or `CATCHMENT_DSN`; without one they use the embedded server.
`--json` prints JSON for programs. This page is written by `docs/generate_register_cli.py` from the commands: change
those."""
EVERYWHERE = {"--dsn", "--json", "--help"}


def commands() -> Iterator[tuple[str, Any]]:
    """Every command by the words that call it."""
    group = typer.main.get_command(app)
    if not isinstance(group, TyperGroup):
        raise TypeError(f"catchment register is a {type(group).__name__}, expected a group of commands")
    for name, listed in group.commands.items():
        command = listed.load() if isinstance(listed, LazyCommand) else listed
        if isinstance(command, TyperGroup):
            for below, inner in command.commands.items():
                yield f"{name} {below}", inner
        else:
            yield name, command


def options(command: Any) -> Iterator[tuple[str, str]]:
    """What a command takes: how it is written, and what it means."""
    for parameter in command.params:
        if EVERYWHERE & set(parameter.opts):
            continue
        if parameter.param_type_name == "argument":
            written = parameter.metavar or parameter.name.upper()
        else:
            written = ", ".join((*parameter.opts, *parameter.secondary_opts))
        yield f"`{written}`", getattr(parameter, "help", None) or ""


def render() -> str:
    """The whole page."""
    parts = [INTRO]
    for words, command in commands():
        parts.append(f"## {words}")
        parts.append(" ".join((command.help or "").split()))
        rows = [f"| {written} | {' '.join(meaning.split())} |" for written, meaning in options(command)]
        if rows:
            parts.append("\n".join(["| | |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
