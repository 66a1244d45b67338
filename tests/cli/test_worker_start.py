"""``catchment worker`` starts as it was asked to, or says what is wrong with that."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fixtures import spare
from tests.fixtures.engine import Engine
from tests.fixtures.often import some_rows

Refused = Callable[..., str]


@pytest.fixture
def refused(db: str) -> Refused:
    """Runs ``catchment worker``, which ends with this code, and returns what it said as one line."""

    def run(*arguments: str, code: int) -> str:
        environment = {**os.environ, "CATCHMENT_DSN": db, "COLUMNS": "1000"}
        done = spare.run("worker", *arguments, environment=environment, timeout=60)
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return re.sub(r"[\s│╭╮╰╯─]+", " ", done.stderr)

    return run


def test_a_switch_that_is_neither_on_nor_off_is_refused(refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CATCHMENT_PREPARE", "perhaps")
    assert "CATCHMENT_PREPARE is 'perhaps' in the environment, expected true or false" in refused(code=1)


def test_an_invalid_setting_is_refused_with_its_value_and_default(
    refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CATCHMENT_LEASE_SECONDS", "1e12")
    said = refused(code=1)
    assert "CATCHMENT_LEASE_SECONDS in the environment is invalid: it is '1e12'" in said
    assert "its default is 15" in said


def test_an_invalid_setting_of_ray_is_refused_without_handlers_for_ray(
    refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables may be refreshed on a cluster at any time: each of their subtasks would fail."""
    monkeypatch.setenv("CATCHMENT_RAY_SILENCE_SECONDS", "0")
    assert "CATCHMENT_RAY_SILENCE_SECONDS in the environment is invalid: it is '0'" in refused(code=1)


def test_an_app_without_its_option_is_refused_with_what_to_type(refused: Refused) -> None:
    assert "catchment worker --app mail:app" in refused("mail:app", code=2)


@pytest.mark.usefixtures("committed")
@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    some_rows(
        [
            (["nosuch=3"], 1, "--concurrency nosuch=3 names a queue that this worker does not serve"),
            (["work=²"], 2, "'work=²' is not QUEUE=N with N from 1 to 10000"),
            (["work=99999999999"], 2, "is not QUEUE=N"),
            (["work=1", "work=2"], 2, "queue work is given twice"),
        ],
        one_in=2,
    ),
)
def test_a_concurrency_that_cannot_be_kept_is_refused(
    refused: Refused, arguments: list[str], code: int, says: str
) -> None:
    given = [part for pair in arguments for part in ("--concurrency", pair)]
    assert says in refused(*given, code=code)


def test_a_concurrency_of_a_queue_that_is_not_served_is_refused(committed: Engine, refused: Refused) -> None:
    committed.queue("one")
    committed.queue("two")
    said = refused("--queue", "one", "--concurrency", "two=3", code=1)
    assert "--concurrency two=3 names a queue that this worker does not serve; it serves: one" in said


@pytest.mark.parametrize(
    ("text", "line", "says"),
    some_rows(
        [
            ("x = 1\ndef f(:\n", 2, "SyntaxError"),
            ("\nimport nosuch_library\n", 2, "No module named 'nosuch_library'"),
            ("from json import nothing_such\n", 1, "cannot import name 'nothing_such'"),
            ("import json\n\njson.loads('{')\n", 3, "JSONDecodeError"),
            ("import sys\nsys.exit(0)\n", 2, "it calls sys.exit(0)"),
            ("raise KeyError\n", 1, "KeyError"),
            ("raise GeneratorExit('x')\n", 1, "GeneratorExit: x"),
            ("import catchment\n\n@catchment.App().command(timeout=8e13)\ndef f(): ...\n", 3, "timeout is"),
        ],
        one_in=2,
    ),
)
def test_an_app_that_cannot_be_imported_is_named_with_its_line(
    refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, line: int, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    module = tmp_path / "broken_app.py"
    module.write_text(text)
    said = refused("--app", "broken_app:app", code=1)
    assert "module broken_app cannot be imported: " in said
    assert says in said
    assert f"({module}, line {line})" in said


def test_a_module_that_the_app_imports_is_named_where_it_fails(
    refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module = tmp_path / "broken_app.py"
    module.write_text("import its_helper\n")
    (tmp_path / "its_helper.py").write_text("\n\nint('x')\n")
    said = refused("--app", "broken_app:app", code=1)
    assert f"ValueError: invalid literal for int() with base 10: 'x' ({tmp_path / 'its_helper.py'}, line 3)" in said
    assert f"{module}, line 1: import its_helper {tmp_path / 'its_helper.py'}, line 3: int('x') hint:" in said
