"""What a person or a script may pass by mistake, and values in the database that Python cannot read: no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from catchment.sql import ENGINE
from tests.fixtures import spare
from tests.fixtures.engine import Engine
from tests.fixtures.often import some

Run = Callable[..., subprocess.CompletedProcess[str]]
LONG = "1" + "0" * 5000
DEEP = "[" * 3000 + "]" * 3000


@pytest.fixture
def cli(db: str) -> Run:
    def run(*arguments: str, code: int = 0, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"CATCHMENT_DSN": db, "COLUMNS": "300"} | variables
        done = spare.run(*arguments, environment=environment, timeout=60)
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode == code, done.stderr
        return done

    return run


def _said(done: subprocess.CompletedProcess[str]) -> str:
    return " ".join(done.stderr.replace("│", " ").split())


@pytest.mark.parametrize("value", some([LONG, DEEP], one_in=2))
def test_a_payload_that_python_cannot_read_is_shown_as_its_text(committed: Engine, cli: Run, value: str) -> None:
    query = "select worker.enqueue('act', pg_catalog.format('{\"v\": %%s}', %s::text)::jsonb)"
    ((task,),) = committed.conn.execute(query, [value])
    assert value[:1900] in "".join(cli("task", "show", str(task)).stdout.split())
    printed = cli("task", "show", str(task), "--json").stdout
    assert value in "".join(printed.split())
    assert json.loads(printed.replace(value, "null"))["payload"] == {"v": None}


@pytest.mark.parametrize(
    ("value", "says"),
    [(LONG, "has a number with more digits than Python reads"), ("[" * 20_000, "is nested too deep for Python")],
)
def test_a_payload_that_python_cannot_read_is_not_enqueued(committed: Engine, cli: Run, value: str, says: str) -> None:
    done = cli("enqueue", "act", f'{{"v": {value}{"]" * value.count("[")}}}', code=1)
    assert f"the payload cannot be read: it {says}" in _said(done)


def test_a_payload_keeps_all_digits(committed: Engine, cli: Run) -> None:
    task = int(cli("enqueue", "act", '{"v": 1.00000000000000000000000000001}').stdout)
    ((stored,),) = committed.conn.execute("select payload::text from worker.tasks where id = %s", [task])
    assert stored == '{"v": 1.00000000000000000000000000001}'


# Without a server nothing starts, whatever the number.
NOWHERE = ["--dsn", "host=/nowhere"]
OUT_OF_RANGE: list[tuple[list[str], str]] = [
    (["enqueue", "act", "--priority", "99999999999"], "'--priority': "),
    (["enqueue", "act", "--priority", "-99999999999"], "'--priority': "),
    (["task", "show", "99999999999999999999"], "'ID': "),
    (["task", "show", "--", "-99999999999999999999"], "'ID': "),
    (["task", "tree", "99999999999999999999"], "'ID': "),
    (["task", "tree", "1", "--limit", "99999999999999999999"], "'--limit': "),
    (["task", "list", "--limit", "99999999999999999999"], "'--limit': "),
    (["task", "cancel", "1", "99999999999999999999"], "'ID': "),
    (["task", "retry", "99999999999999999999"], "'ID': "),
    (["queue", "pause", "work", "--for", "1e300"], "'--for': "),
    (["queue", "pause", "work", "--for", "inf"], "'--for': "),
    (["queue", "pause", "work", "--for", "nan"], "'--for': "),
    (["bench", "--processes", "99999999999999999999", *NOWHERE], "'--processes': "),
    (["table", "lag", "--hours", "1e300"], "'--hours': "),
    (["table", "lag", "--hours", "nan"], "'--hours': "),
    (["table", "history", "--limit", "99999999999999999999"], "'--limit': "),
    (["table", "refresh", "--all", "--timeout", "inf"], "'--timeout': "),
    (["table", "maintain", "--all", "--expire-days", "1e300"], "'--expire-days': "),
    (["table", "worker", "--processes", "99999999999999999999", *NOWHERE], "'--processes': "),
    (["table", "worker", "--memory", "-5GB", *NOWHERE], "'--memory': "),
    (["table", "worker", "--memory", "much", *NOWHERE], "'--memory': "),
    (["table", "worker", "--threads", "99999999999999999999", *NOWHERE], "'--threads': "),
]


def test_a_script_from_a_migration_that_does_not_exist_is_refused(cli: Run) -> None:
    said = _said(cli("migrate", "--sql", "--from", "99999", code=1))
    assert f"schema worker has no migration 99999, expected a number from 0 to {ENGINE.newest}" in said


def test_a_migration_without_roles_says_that_there_are_some(cli: Run) -> None:
    said = cli("migrate", "--no-roles").stdout
    assert "It has roles, and keeps them: --no-roles is for a new schema." in " ".join(said.split())
    assert "roles" not in cli("migrate").stdout


def test_psql_is_not_led_to_another_database(cli: Run) -> None:
    given = {"-d": "-dother", "--dbname": "--dbn=other", "-h": "-h other", "-p": "-At -p 1", "-U": "-AtU ada"}
    for option, words in given.items():
        said = _said(cli("psql", *words.split(), code=1))
        assert f"{option} of psql would lead to another database than that of Catchment" in said
        assert "Choose the database by --dsn" in said
    said = _said(cli("psql", "-c", "select 1", "nosuchdb", code=1))
    assert "'nosuchdb', for psql the name of a database, would lead to another database" in said
    # Values of options may look like any of them.
    assert cli("psql", "-XAt", "-v", "a=-d", "-F-h", "-c", "select 1, 2", "-P", "null=-U").stdout == "1-h2\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(*each, id=" ".join(each[0]), marks=[pytest.mark.long] if place % 2 else [])
        for place, each in enumerate(OUT_OF_RANGE)
    ],
)
def test_numbers_out_of_range_are_refused_as_what_they_are(cli: Run, arguments: list[str], says: str) -> None:
    said = _said(cli(*arguments, code=2))
    assert f"Invalid value for {says}" in said
    assert "migrate" not in said


@pytest.mark.parametrize("at", ["0001-01-01", "9999-12-31T23:59:59"])
@pytest.mark.parametrize("zone", ["Etc/GMT-14", "Etc/GMT+12"])
def test_a_due_time_that_nobody_can_hold_is_refused(committed: Engine, cli: Run, at: str, zone: str) -> None:
    said = _said(cli("enqueue", "act", "--at", at, code=1, TZ=zone))
    assert "expected a time from 0001-01-03 to 9999-12-29" in said


BAD_APPS = ["../x:app", "./x:app", "x/y:app", "x.py/:app", ".x:app", "..:app", "x..y:app", "x.:app", "x\\y:app"]


@pytest.mark.parametrize("app", some(BAD_APPS, one_in=3))
def test_a_path_is_not_taken_for_a_module(committed: Engine, cli: Run, app: str) -> None:
    assert "is not MODULE:APP" in _said(cli("worker", "--app", app, code=2))


def test_a_module_whose_attributes_raise_is_reported(
    committed: Engine, cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shifty.py").write_text("def __getattr__(name): raise RuntimeError('no ' + name)\n")
    monkeypatch.chdir(tmp_path)
    assert "app of shifty cannot be read: RuntimeError: no app" in _said(cli("worker", "--app", "shifty:app", code=1))


NOT_TEXT = os.fsdecode(b"caf\xe9")


@pytest.mark.parametrize(
    "arguments",
    some(
        [
            ["enqueue", NOT_TEXT],
            ["enqueue", "act", f'{{"v": "{NOT_TEXT}"}}'],
            ["enqueue", "act", "--lane", NOT_TEXT],
            ["task", "list", "--command", NOT_TEXT],
            ["task", "cancel", "1", "--reason", NOT_TEXT],
            ["queue", "pause", NOT_TEXT],
            ["doctor", "--dsn", f"host={NOT_TEXT}"],
        ],
        one_in=3,
    ),
    ids=lambda arguments: "-".join(arguments[:2]),
)
def test_arguments_that_are_not_text_are_refused(committed: Engine, cli: Run, arguments: list[str]) -> None:
    said = _said(cli(*arguments, code=1))
    assert "is not valid U" in said


@pytest.mark.long
def test_output_that_is_not_utf_8_has_escapes(committed: Engine, db: str) -> None:
    def run(*arguments: str, columns: int = 60, code: int = 0) -> subprocess.CompletedProcess[str]:
        # Not forked: the encoding is chosen when Python starts.
        variables = {"CATCHMENT_DSN": db, "PYTHONIOENCODING": "ascii", "LC_ALL": "C", "COLUMNS": str(columns)}
        command = [sys.executable, "-m", "catchment", *arguments]
        done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, timeout=60)
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode == code, done.stderr
        return done

    committed.queue("größe")
    committed.command("größe", queue="größe")
    task = committed.enqueue("größe", note="日本 🎣")
    committed.conn.execute("update worker.tasks set state = 'cancelled' where id = %s", [task])
    assert "gr\\xf6\\xdfe" in run("task", "tree", str(task), columns=300).stdout
    assert "gr\\xf6\\xdfe" in run("task", "list", columns=40).stdout
    assert json.loads(run("task", "show", str(task), "--json").stdout)["payload"] == {"note": "日本 🎣"}
    assert "gr\\xf6" in run("enqueue", "größer", code=1).stderr
