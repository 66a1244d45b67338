"""The command from start to end: Ctrl-C during its imports, output that nobody takes, its version."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import catchment
from tests.fixtures.often import often, some_rows

# An import that is interrupted at this very moment. What the tests run in may ignore the signal.
INTERRUPT = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
os.kill(os.getpid(), signal.SIGINT)
"""


def run(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """``catchment`` as a shell starts it: not forked, because the imports and the streams are what is tested."""
    variables = {"CATCHMENT_DSN": "host=/nowhere", "COLUMNS": "300", **options.pop("variables", {})}
    command = [sys.executable, "-m", "catchment", *words]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run(command, env=os.environ | variables, text=True, timeout=60, check=False, **streams)


@pytest.mark.parametrize(
    ("module", "words"),
    some_rows([("typer", ["--help"]), ("rich", ["task", "list"]), ("psycopg", ["task", "list"])], one_in=3),
)
def test_ctrl_c_during_an_import_ends_as_at_any_other_time(tmp_path: Path, module: str, words: list[str]) -> None:
    (tmp_path / f"{module}.py").write_text(INTERRUPT)
    path = os.pathsep.join([str(tmp_path), str(Path(catchment.__file__).parents[1])])
    done = run(*words, variables={"PYTHONPATH": path})
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_the_program_is_the_function_that_catches_it() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"catchment": "catchment.__main__:main"}


@pytest.mark.parametrize("unbuffered", often("", now_and_then=["1"]))
@pytest.mark.parametrize("words", often(["--help"], now_and_then=[["--version"], ["task", "--help"]]))
def test_output_on_a_full_disk_is_one_error(words: list[str], unbuffered: str) -> None:
    with open("/dev/full", "w") as full:
        done = run(*words, stdout=full, variables={"PYTHONUNBUFFERED": unbuffered})
        assert done.returncode == 1
        assert done.stderr == "error: the output cannot be written: No space left on device\n"
        done = run(*words, stdout=full, stderr=full, variables={"PYTHONUNBUFFERED": unbuffered})
        assert done.returncode == 1


@pytest.mark.long
@pytest.mark.parametrize("unbuffered", often("", now_and_then=["1"]))
def test_an_error_on_a_full_disk_keeps_its_exit_code(unbuffered: str) -> None:
    with open("/dev/full", "w") as full:
        assert run("task", "list", stderr=full, variables={"PYTHONUNBUFFERED": unbuffered}).returncode == 3


@pytest.mark.parametrize("words", often(["--help"], now_and_then=[["--version"]]))
def test_a_reader_that_has_gone_is_no_error_to_report(words: list[str]) -> None:
    theirs, ours = os.pipe()
    os.close(theirs)
    done = run(*words, stdout=ours, variables={"PYTHONUNBUFFERED": ""})
    os.close(ours)
    assert (done.returncode, done.stderr) == (1, "")


def test_the_version_is_printed() -> None:
    first, *others = run("--version").stdout.splitlines()
    assert first == f"catchment {catchment.__version__}"
    python = sys.version.split()[0]
    assert others == [
        f"Python {python}, PostgreSQL 15 to 18",
        "extras: embedded, lake, dashboard, register, sqlalchemy, ray",
    ]
