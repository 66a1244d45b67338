"""Runs a command in this process, in a terminal of some width or in a pipe, and looks at what it prints."""

from __future__ import annotations

import io
import json
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import jsonschema_rs
import pytest
import typer.main
from rich.cells import cell_len

from catchment.cli.answers import schema_of
from catchment.cli.failure import show_failure
from catchment.cli.main import app
from catchment.commands.output import console, errors

# What is to be copied is one line, however long.
_COMMAND = re.compile(r" +(next +)?catchment \S|ATTACH ")
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Screen(io.StringIO):
    """An output that is a terminal, or a pipe."""

    encoding = "utf-8"

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


@dataclass(frozen=True)
class Printed:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


def run(monkeypatch: pytest.MonkeyPatch, *words: str, width: int | None = None, may_sleep: bool = False) -> Printed:
    """``catchment`` with these words. What would run forever is interrupted when it sleeps, unless it may."""
    is_terminal = width is not None
    out, err = Screen(is_terminal=is_terminal), Screen(is_terminal=is_terminal)
    code = 0
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        patch.setattr(sys, "stdin", io.StringIO())
        if not may_sleep:
            patch.setattr(time, "sleep", _interrupt)
        patch.setenv("NO_COLOR", "1")
        for each in (console, errors):
            patch.setattr(each, "_width", width)
        if width is None:
            patch.delenv("COLUMNS", raising=False)
        else:
            patch.setenv("COLUMNS", str(width))
            # What typer shows of a wrong call, and help.
            patch.setenv("TERMINAL_WIDTH", str(width))
        try:
            typer.main.get_command(app).main(list(words), prog_name="catchment")
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        except Exception as error:
            shown = show_failure(error)
            if shown is None:
                raise
            code = shown
    return Printed(code, out.getvalue(), err.getvalue())


def _interrupt(_: float) -> None:
    raise KeyboardInterrupt


def problems_of_text(printed: Printed, width: int | None, ids: set[str]) -> Iterator[str]:
    """What is wrong with a text: cut off in a pipe, too wide for a terminal, or an id in pieces."""
    lines = [_ESCAPE.sub("", line) for line in (printed.out + printed.err).splitlines()]
    if "Traceback" in printed.err:
        yield f"a traceback:\n{printed.err}"
    if width is None:
        yield from (f"cut off in a pipe: {line!r}" for line in lines if "…" in line)
        return
    wide = [line for line in lines if cell_len(line) > width and not _COMMAND.match(line)]
    if wide:
        yield f"{cell_len(wide[0])} columns in a terminal of {width}: {wide[0]!r}"
    words = set(re.findall(r"\d+", printed.out))
    for task_id in ids:
        if task_id not in words:
            yield f"id {task_id} is not in one piece in a terminal of {width}:\n{printed.out}"


def problems_of_json(text: str, answer: Any, *, are_lines: bool) -> Iterator[str]:
    """What is wrong with a JSON document, or with one on each line."""
    check = jsonschema_rs.validator_for(
        schema_of(answer), validate_formats=True, formats={"date-time": _is_moment}, ignore_unknown_formats=False
    )
    for document in text.splitlines() if are_lines else [text]:
        try:
            value = json.loads(document, parse_constant=_refuse)
        except ValueError as error:
            yield f"no JSON ({error}): {document!r}"
            continue
        for error in check.iter_errors(value):
            yield f"{list(error.instance_path)}: {error.message}"


def ids_of(text: str, name: str) -> set[str]:
    """The ids of a JSON document with rows, or with one: those of its first list, if it has any."""
    value = json.loads(text)
    if isinstance(value, dict) and name not in value:
        value = value["tasks"]
    rows = value if isinstance(value, list) else [value]
    return {str(row[name]) for row in rows if row[name] is not None}


def _is_moment(text: str) -> bool:
    """A time with its zone."""
    return datetime.fromisoformat(text).tzinfo is not None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
