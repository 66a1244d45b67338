"""Brackets and colons in names, errors and hints are shown as they are: Rich would take them for markup and emoji."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import catchment.lake
from catchment.cli import demo_lake, failure, table_show
from catchment.commands import output
from catchment.errors import CatchmentError
from tests.fixtures import spare
from tests.fixtures.engine import Engine

NAME = "[red]a[/red] \\[b] c:x:1234:d"


def run(db: str, *arguments: str) -> str:
    environment = os.environ | {"CATCHMENT_DSN": db, "COLUMNS": "300"}
    done = spare.run(*arguments, environment=environment, timeout=60)
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def test_names_and_errors_are_printed_as_they_are(committed: Engine, db: str) -> None:
    committed.queue(NAME)
    committed.command(NAME, queue=NAME, handler_procedure=NAME)
    task = committed.enqueue(NAME, note=NAME)
    committed.process(NAME)
    assert f"the handler {NAME} of {NAME} does not exist" in run(db, "task", "tree", str(task))
    assert NAME in run(db, "task", "show", str(task))
    assert NAME in run(db, "task", "list")
    assert NAME in run(db, "queue", "list")
    assert f"{NAME} is paused." in run(db, "queue", "pause", NAME)
    assert NAME in run(db, "doctor")
    assert f"{NAME} is resumed." in run(db, "queue", "resume", NAME)
    assert NAME in run(db, "command", "list")
    assert "unknown command '[red]none[/]'" in run(db, "enqueue", "[red]none[/]")


def test_the_hint_of_a_missing_extra_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(output.console, "width", 300)
    monkeypatch.delitem(vars(catchment.lake), "Lake", raising=False)
    for name in [name for name in sys.modules if name.startswith("catchment.lake.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    demo_lake.demo_lake("", tmp_path)
    assert "pip install 'catchment[lake]'" in capsys.readouterr().out

    monkeypatch.setattr(output.errors, "width", 300)
    error = CatchmentError("dynamic tables need duckdb", hint="Run: pip install 'catchment[lake]' for a:x:1")
    assert failure.show_failure(error) == 1
    assert "pip install 'catchment[lake]' for a:x:1" in capsys.readouterr().err


def test_nested_values_are_printed_as_they_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output.console, "width", 300)
    row = {"sources": [{"name": NAME, "columns": [NAME, {"name": NAME}]}]}
    table_show.show_one(row, as_json=False, names={"sources": "sources"})
    said = capsys.readouterr().out
    assert said.count(NAME) == 3
