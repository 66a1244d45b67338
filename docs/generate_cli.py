"""Writes docs/reference/cli.md, register_cli.md and cli.schema.json from the commands themselves and from what they
answer: ``python docs/generate_cli.py``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main
from typer.core import TyperGroup

from catchment.cli.answers import ANSWERS, schema_of
from catchment.cli.main import app
from catchment.commands.group import LazyCommand
from catchment_register.cli.answers import ANSWERS as REGISTER_ANSWERS
from catchment_register.cli.main import app as register

FOLDER = Path(__file__).parent / "reference"
SCHEMAS = FOLDER / "cli.schema.json"
SAME = """\
Every field is always present, numbers are JSON numbers, and times have a time zone, as in `2026-11-18T09:30:00+00:00`.
A time outside the years 1 to 9999 is text. An empty list is `[]`. [`cli.schema.json`](cli.schema.json) has a JSON
Schema for each command. Messages and questions go to stderr. This page is generated from the commands by
`docs/generate_cli.py`."""
INTRO = f"""\
# Commands

`catchment …`. Commands that need a database take `--dsn` or `CATCHMENT_DSN`; without either they use the embedded
server. Exit codes: 0 success, 1 refused, failed or a problem was found, 2 wrong usage, 3 no server, 130 interrupted.
The commands of the register have [a separate page](register_cli.md).

In a terminal, tables omit columns that do not fit. In a pipe or a file nothing is omitted, unless the variable
`COLUMNS` sets a width. For programs, use `--json`.

{SAME}"""
REGISTER_INTRO = f"""\
# Commands of the register

`catchment register …`. All commands but `generate` take `--dsn` or `CATCHMENT_DSN`; without either they use the
embedded server. All commands but `demo` have `--json` for programs. Days are `2026-11-18`, and an open end is
`infinity`.

{SAME}"""
EVERYWHERE = {"--dsn", "--json", "--help", "--lake"}


def commands(of: typer.Typer) -> Iterator[tuple[str, Any]]:
    """Every command of a program by the words that call it."""
    group = typer.main.get_command(of)
    if not isinstance(group, TyperGroup):
        raise TypeError(f"{of.info.name} is a {type(group).__name__}, expected a group of commands")
    for name, listed in group.commands.items():
        command = listed.load() if isinstance(listed, LazyCommand) else listed
        if isinstance(command, TyperGroup):
            for below, inner in command.commands.items():
                if not inner.hidden:
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


def render(of: typer.Typer, intro: str, answers: dict[str, Any], prefix: str = "") -> str:
    """One page."""
    parts = [intro]
    for words, command in commands(of):
        parts.append(f"## {words}")
        parts += ["  \n".join(" ".join(part.split()) for part in (command.help or "").split("\n\n"))]
        rows = [f"| {written} | {_cell(meaning)} |" for written, meaning in options(command)]
        if rows:
            parts.append("\n".join(["| | |", "|---|---|", *rows]))
        if prefix + words in answers:
            parts += _answer(schema_of(answers[prefix + words]))
    return "\n\n".join(parts) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _answer(schema: dict[str, Any]) -> Iterator[str]:
    """The fields of an answer, each with its type; what is nested comes below."""
    yield f"JSON: {_kind(schema)}."
    named = [("", schema)] if "properties" in schema else []
    for name, part in [*named, *schema.get("$defs", {}).items()]:
        if "enum" in part:
            yield f"`{name}`: {_kind(part)}."
        if "properties" not in part:
            continue
        words = " ".join(part.get("description", "").split()).replace("``", "`")
        title = f"`{name}`: " if name else ""
        yield f"{title}{words}".strip()
        yield "\n".join(
            [
                "| field | type |",
                "|---|---|",
                *(f"| `{key}` | {_kind(item)} |" for key, item in part["properties"].items()),
            ]
        )


def _kind(part: dict[str, Any]) -> str:
    """A type in words."""
    if "$ref" in part:
        return f"`{part['$ref'].rpartition('/')[2]}`"
    if "anyOf" in part:
        return " or ".join(dict.fromkeys(_kind(choice) for choice in part["anyOf"]))
    if "enum" in part or "const" in part:
        return ", ".join(f"`{value}`" for value in part.get("enum", [part.get("const")]))
    if part.get("type") == "array":
        return f"list of {_kind(part.get('items', {}))}"
    if part.get("format") in ("date-time", "date"):
        return "time" if part["format"] == "date-time" else "day"
    if isinstance(part.get("additionalProperties"), dict):
        return f"object, each value {_kind(part['additionalProperties'])}"
    names = {"string": "text", "integer": "integer", "number": "number", "boolean": "true or false", "null": "null"}
    return names.get(part.get("type", ""), "object" if part.get("type") == "object" else "any value")


def schemas() -> str:
    """The JSON Schemas of all commands."""
    made = {words: schema_of(answer) for words, answer in (ANSWERS | REGISTER_ANSWERS).items()}
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def pages() -> dict[Path, str]:
    """What is written, by its place."""
    return {
        FOLDER / "cli.md": render(app, INTRO, ANSWERS),
        FOLDER / "register_cli.md": render(register, REGISTER_INTRO, REGISTER_ANSWERS, "register "),
        SCHEMAS: schemas(),
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
