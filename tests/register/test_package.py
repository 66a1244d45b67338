"""The package from outside: it is found by its entry point, its errors have codes, and its text keeps to the rules."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import psycopg
import pytest
import typer
from typer.testing import CliRunner

import catchment
import catchment_register
from catchment.cli import plugins
from catchment_register import errors
from catchment_register.schema import REGISTER

ROOT = Path(catchment_register.__file__).parent


def test_catchment_finds_the_register_and_does_not_import_it() -> None:
    assert [e.value for e in entry_points(group="catchment.commands", name="register")] == [
        "catchment_register.cli.main:app"
    ]
    script = "import sys, catchment, catchment.cli.main; print('catchment_register' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_broken_plug_in_spoils_its_own_command_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint("broken", "no_such_module.cli:app", plugins.GROUP)
    monkeypatch.setattr(plugins, "entry_points", lambda **_: (broken,))
    app = typer.Typer(cls=plugins.PluginGroup, no_args_is_help=True)
    app.command("fine")(lambda: print("fine"))
    app.command("other")(lambda: print("other"))
    run = CliRunner()
    shown = run.invoke(app, ["--help"])
    assert shown.exit_code == 0
    assert "broken" in shown.output
    assert run.invoke(app, ["fine"]).output == "fine\n"
    used = run.invoke(app, ["broken", "--any", "thing"])
    assert isinstance(used.exception, catchment.CatchmentError)
    assert "catchment broken cannot be used: ModuleNotFoundError: No module named 'no_such_module'" in str(
        used.exception
    )


def test_every_public_name_exists_and_is_documented() -> None:
    for name in catchment_register.__all__:
        assert getattr(catchment_register, name).__doc__, name


def test_every_error_is_drawn_in_the_tree() -> None:
    drawn = set(re.findall(r"[A-Z]\w+", errors.__doc__ or ""))
    defined = {n for n, v in vars(errors).items() if isinstance(v, type) and issubclass(v, errors.RegisterError)}
    assert defined <= drawn


def test_every_sqlstate_that_the_register_raises_has_a_class() -> None:
    raised = {m for f in (ROOT / "sql").rglob("*.sql") for m in re.findall(r"errcode = '(RG\d+)'", f.read_text())}
    assert {"RG001", "RG002", "RG003", "RG004", "RG005", "RG006", "RG007"} <= raised
    for sqlstate in sorted(raised):
        made = type("Made", (psycopg.DatabaseError,), {"sqlstate": sqlstate})("said")
        assert isinstance(REGISTER.translate(made), errors.RegisterError), sqlstate


def test_errors_of_the_server_stay_what_they_are() -> None:
    error = psycopg.errors.UniqueViolation("said")
    assert REGISTER.translate(error) is error


def test_every_routine_is_in_the_file_of_its_name() -> None:
    sql = ROOT / "sql"
    for file in (*(sql / "functions").rglob("*.sql"), *(sql / "commands").glob("*/*.sql")):
        text = file.read_text()
        made = re.findall(r"^create or replace (?:function|procedure) (?:register|worker)\.(\w+)", text, re.MULTILINE)
        assert made == [file.stem], file
        assert text.startswith(f"-- {file.stem}: "), file


def test_every_table_has_a_comment_and_every_index_a_reason() -> None:
    for file in (ROOT / "sql" / "migrations").glob("*.sql"):
        text = file.read_text()
        assert text.startswith("-- Why: "), file
        tables = re.findall(r"^create (?:unlogged )?table register\.(\w+)", text, re.MULTILINE)
        assert set(tables) == set(re.findall(r"^comment on table register\.(\w+)", text, re.MULTILINE)), file
        lines = text.splitlines()
        for number, line in enumerate(lines):
            if re.match(r"create (unique )?index", line):
                assert lines[number - 1].startswith("-- "), line
