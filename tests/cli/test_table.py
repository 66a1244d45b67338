"""``catchment table`` as a person or a script uses it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest

from catchment.cli.table_show import progress_line, size
from catchment.model.span import span
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.often import often
from tests.fixtures.spare import spare
from tests.fixtures.table_cli import SETTINGS, Cli, caller, flat
from tests.fixtures.worker import wait_until

TOTALS = """
CREATE DYNAMIC TABLE totals TARGET_LAG = '5 minutes' COMMENT = 'by region'
AS SELECT region, sum(amount) AS amount FROM orders GROUP BY region;
CREATE DYNAMIC TABLE top TARGET_LAG = DOWNSTREAM AS SELECT region FROM totals ORDER BY amount DESC LIMIT 1;
"""


@pytest.fixture
def cli(table_cli: Cli) -> Cli:
    return table_cli


def _json(text: str) -> Any:
    return json.loads(text)


@pytest.mark.long
def test_only_verbs_that_create_make_a_lake(
    db: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "lake"
    for name, value in {**SETTINGS, "CATCHMENT_DSN": db, "CATCHMENT_LAKE": str(folder)}.items():
        monkeypatch.setenv(name, value)
    call = caller(monkeypatch, capsys)
    for verb in (["list"], ["history"], ["lag"], ["graph"], ["drop", "totals", "--if-exists"]):
        assert _json(call(*verb, "--json")) == []
    said = flat(call("list"))
    assert said.startswith("No dynamic tables. Create one: catchment table create FILE.")
    named = (
        "describe",
        "explain",
        "history",
        "lag",
        "audit",
        "refresh",
        "cancel",
        "suspend",
        "resume",
        "drop",
        "maintain",
    )
    for verb in (*([verb, "totals"] for verb in named), ["alter", "totals", "--set", "TARGET_LAG=1 hour"]):
        said = flat(call(*verb, code=1))
        assert "there is no dynamic table totals: this database has no lake yet" in said, verb
        assert "Create one: catchment table create FILE." in said, verb
    for verb in (["attach"], ["explain", "--file", "-"], ["refresh", "--all"]):
        said = flat(call(*verb, code=1))
        assert "this database has no lake yet" in said
        assert "catchment table init" in said
    assert not folder.exists()
    with psycopg.connect(db) as conn:
        assert conn.execute("select to_regnamespace('lake')").fetchone() == (None,)
    assert _json(call("init", "--json", "--lake", f"{folder}2")) == {"data_path": f"{folder}2/"}
    monkeypatch.delenv("CATCHMENT_LAKE")
    assert _json(call("list", "--json")) == []
    assert f"{folder}2/" in call("attach")


def test_a_table_from_its_creation_to_its_end(cli: Cli, lake_case: LakeCase, tmp_path: Path) -> None:
    file = tmp_path / "tables.sql"
    file.write_text(TOTALS)
    said = flat(cli("create", str(file)))
    assert "main.totals: 2 rows, refreshed by delta." in said
    assert "main.top: 1 rows, refreshed by full (LIMIT)." in said
    rows = _json(cli("list", "--json"))
    assert [(row["name"], row["state"], row["rows"], row["last_state"]) for row in rows] == [
        ("main.top", "ACTIVE", 1, "SUCCEEDED"),
        ("main.totals", "ACTIVE", 2, "SUCCEEDED"),
    ]
    assert rows[1]["target_lag_seconds"] == 300
    assert "ACTIVE" in cli("list")

    lake_case.add("orders", [(4, "s", 50)])
    found = _json(cli("refresh", "top", "--json"))
    assert [(row["name"], row["state"]) for row in found] == [("main.totals", "SUCCEEDED"), ("main.top", "SUCCEEDED")]
    assert "main.top SUCCEEDED NO_DATA" in flat(cli("refresh", "--all"))
    for name in ("totals", "top"):
        lake_case.check(name)
    assert [row["is_equal"] for row in _json(cli("audit", "--all", "--json"))] == [True, True]

    shown = _json(cli("describe", "totals", "--json"))
    assert (shown["scheduling_state"], shown["rows"], shown["comment"], shown["refresh_mode"]) == (
        "ACTIVE", 2, "by region", "auto",
    )  # fmt: skip
    assert shown["bytes"] > 0
    assert shown["data_timestamp"]
    assert "by region" in cli("describe", "totals")
    explained = _json(cli("explain", "top", "--json"))
    assert (explained["strategy"], explained["reason"]) == ("full", "LIMIT")
    assert "Leave LIMIT to the query" in flat(cli("explain", "top"))
    history = _json(cli("history", "totals", "--json"))
    assert history[-1]["reason"] == "FIRST_FILL"
    assert all(row["action"] != "no_data" for row in history)
    assert len(_json(cli("history", "totals", "--with-idle", "--json"))) > len(history)
    assert _json(cli("history", "--state", "failed", "--json")) == []
    (kept,) = _json(cli("lag", "totals", "--json"))
    assert kept["within_target"] == 1.0
    assert [row["name"] for row in _json(cli("graph", "--json"))] == ["main.totals", "main.top"]
    assert "main.totals" in cli("graph")

    assert _json(cli("suspend", "totals", "--json")) == [
        {"name": "main.totals", "state": "SUSPENDED"},
        {"name": "main.top", "state": "SUSPENDED"},
    ]
    assert "they are already" in cli("suspend", "totals")
    assert "cannot be resumed while main.totals is suspended" in flat(cli("resume", "top", code=1))
    assert len(_json(cli("resume", "totals", "--json"))) == 2
    altered = _json(cli("alter", "top", "--set", "TARGET_LAG='1 hour'", "--rename-to", "best", "--json"))
    assert (altered["name"], altered["target_lag_seconds"]) == ("main.best", 3600)
    assert "is read by main.best" in flat(cli("drop", "totals", code=1))
    assert _json(cli("drop", "totals", "best", "--cascade", "--json")) == [
        {"name": "main.best"},
        {"name": "main.totals"},
    ]
    assert "Nothing to drop." in cli("drop", "totals", "--if-exists")
    assert "No dynamic tables." in cli("list")
    assert lake_case.leftovers() == {}


@pytest.mark.long
def test_statements_come_from_standard_input_and_twice_is_once(cli: Cli, lake_case: LakeCase) -> None:
    text = TOTALS.replace("TABLE totals", "TABLE IF NOT EXISTS totals").replace("TABLE top", "TABLE IF NOT EXISTS top")
    made = _json(cli("create", "-", "--no-wait", "--json", stdin=text))
    assert [(row["name"], row["is_new"]) for row in made] == [("main.totals", True), ("main.top", True)]
    head = lake_case.head()
    again = cli("create", "-", stdin=text)
    assert "main.totals exists; nothing was done." in again
    assert lake_case.head() == head
    assert "not been filled yet" in flat(cli("describe", "totals"))
    (explained,) = _json(
        cli("explain", "--file", "-", "--json", stdin="CREATE DYNAMIC TABLE x TARGET_LAG='1 s' AS SELECT * FROM orders")
    )
    assert (explained["strategy"], explained["reason"]) == ("keys", None)
    assert _json(cli("refresh", "totals", "--no-wait", "--json"))["round_id"] > 0
    assert _json(cli("cancel", "totals", "--json")) == [{"name": "main.totals", "cancelled": 3}]
    assert "ATTACH 'ducklake:postgres:" in cli("attach")


REFUSED = [
    (["describe", "nope"], "there is no dynamic table main.nope"),
    (["refresh", "nope"], "there is no dynamic table main.nope"),
    (["refresh"], "name tables, or pass --all"),
    (["explain"], "name a table, or a file"),
    (["alter", "totals"], "there is nothing to change"),
    (["alter", "totals", "--set", "colour"], "'colour' is not PROPERTY=VALUE"),
    (["alter", "totals", "--set", "colour=red"], "'colour' is not a property of a dynamic table"),
    (["alter", "totals", "--set", "target_lag=soon"], "TARGET_LAG = 'soon' is not valid"),
    (["create", "/no/such/file.sql"], "/no/such/file.sql cannot be read"),
    (["create", "-"], "there is no statement in the text"),
    (["list", "--lake", "/somewhere/else"], "not at /somewhere/else"),
    (["describe", "a b c"], "follows the name"),
]


def test_refusals_say_what_is_wrong_and_what_to_do(cli: Cli) -> None:
    cli("create", "-", "--no-wait", stdin=TOTALS)
    for arguments, says in REFUSED:
        said = flat(cli(*arguments, code=1))
        assert says in said, arguments
        assert "error:" in said
    assert "hint:" in cli("describe", "nope", code=1)


def test_a_refresh_that_fails_has_its_own_exit_code_and_its_reason(cli: Cli, lake_case: LakeCase) -> None:
    statement = "CREATE DYNAMIC TABLE bad TARGET_LAG = '1 h' AS SELECT CAST(region AS INTEGER) AS r FROM orders"
    said = flat(cli("create", "-", code=1, stdin=statement))
    assert "main.bad is created, but its first refresh is FAILED" in said
    said = flat(cli("refresh", "bad", code=1))
    assert "main.bad FAILED QUERY" in said
    # More than two if the worker of a command has ticked: a table that never had data is due.
    first, second, *more = [row["error_code"] for row in _json(cli("history", "--state", "FAILED", "--json"))]
    assert {first, second, *more} == {"QUERY"}


@pytest.mark.long
def test_an_audit_that_finds_a_difference_fails(cli: Cli, lake_case: LakeCase) -> None:
    cli("create", "-", stdin=TOTALS)
    lake_case.sql(f"DELETE FROM lake.dt.\"t{lake_case.find('totals')}g1\" WHERE region = 'n'")
    said = cli("audit", "totals", "--json", code=1)
    (found,) = _json(said)
    assert (found["missing"], found["is_equal"]) == (1, False)


WITHOUT_EXTRA = """
import sys
sys.modules[sys.argv[1]] = None
import contextlib, io
from catchment.cli.main import run
for words in sys.argv[2:]:
    sys.argv = ["catchment", *words.split()]
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(said):
        try:
            run()
        except SystemExit as ended:
            code = ended.code
    print(code, *said.getvalue().split())
"""


def _without(module: str, *calls: str) -> list[str]:
    command = [sys.executable, "-c", WITHOUT_EXTRA, module, *calls]
    environment = {**os.environ, "CATCHMENT_DSN": "host=/nowhere", "COLUMNS": "300"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("module", often("duckdb", now_and_then=["sqlglot", "pytz"]))
def test_without_the_extra_every_command_says_so_before_it_looks_at_its_arguments(module: str) -> None:
    calls = ["list", "explain", "create no-such-file.sql", "create", "refresh", "drop --what", "lag --hours x"]
    expected = f"1 error: dynamic tables need {module}, which is not installed hint: Run: pip install 'catchment[lake]'"
    assert _without(module, *(f"table {call}" for call in calls)) == [expected] * len(calls)


@pytest.mark.long
def test_without_the_extra_the_worker_of_dynamic_tables_says_so() -> None:
    (said,) = _without("duckdb", "worker --app catchment.lake.tasks.app:app")
    assert said.startswith("1 error: dynamic tables need duckdb, which is not installed hint: Run: pip install")


@pytest.mark.long
def test_without_the_extra_there_is_help() -> None:
    for said in _without("duckdb", "table --help", "table create --help"):
        assert said.startswith("0 Usage:")


@pytest.mark.long
def test_without_the_extra_the_names_of_the_package_say_so() -> None:
    program = (
        "import sys; sys.modules['sqlglot'] = None\n"
        "import catchment, catchment.lake\n"
        "try: from catchment.lake import Lake\n"
        "except catchment.ExtraMissing as error: print(error.name, isinstance(error, ImportError), error.hint)\n"
        "catchment.lake.Lake"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "sqlglot True Run: pip install 'catchment[lake]'\n"
    # In a traceback too.
    assert done.stderr.endswith(
        "ExtraMissing: dynamic tables need sqlglot, which is not installed\nRun: pip install 'catchment[lake]'\n"
    )


@pytest.mark.long
def test_ctrl_c_ends_the_wait_and_the_refresh_can_be_done_by_others(
    cli: Cli, lake_case: LakeCase, tmp_path: Path
) -> None:
    cli("create", "-", "--no-wait", stdin=TOTALS)
    with ExitStack() as stack, psycopg.connect(lake_case.dsn, autocommit=True) as holder:
        # The refresh waits for its commit as long as somebody else has the lock.
        holder.execute("select pg_advisory_lock(lake.commit_key())")
        log = stack.enter_context((tmp_path / "stderr").open("w+"))
        process = spare().start(
            *("table", "refresh", "totals"),
            environment={**os.environ, **SETTINGS, "CATCHMENT_DSN": lake_case.dsn},
            out=log.fileno(),
            err=log.fileno(),
        )
        stack.callback(process.kill)
        publishing = "select count(*) from lake.refresh where state = 'PUBLISHING'"
        wait_until(lambda: lake_case.pg(publishing) == [(1,)], seconds=60)
        process.send_signal(signal.SIGINT)
        holder.execute("select pg_advisory_unlock(lake.commit_key())")
        process.wait(60)
        said = (tmp_path / "stderr").read_text()
    assert process.returncode == 130, said
    assert "Stopped waiting" in said
    assert "Traceback" not in said
    # Whatever it got done by then: asking again finishes it, and nothing is there twice.
    cli("refresh", "totals")
    lake_case.check("totals")
    assert lake_case.leftovers() == {}


def test_times_sizes_and_progress_are_readable() -> None:
    assert [span(value) for value in (0.0123, 2, 59.94, 61, 3600, 90061)] == [
        "12 ms", "2 s", "59.9 s", "1 min 1 s", "1 h", "1 d 1 h",
    ]  # fmt: skip
    assert [size(value) for value in (0, 999, 1000, 3_200_000, 10**12)] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "3.2 MB",
        "1.0 TB",
    ]
    assert progress_line([], 1) == " (1 s)"


@pytest.mark.long
def test_upkeep_by_hand(cli: Cli, lake_case: LakeCase) -> None:
    cli("create", "-", stdin=TOTALS)
    found = _json(cli("maintain", "--all", "--expire-days", "1", "--json"))
    assert [row["name"] for row in found["tables"]] == ["main.top", "main.totals"]
    # All of it is younger.
    assert found["expired_snapshots"] == 0
    assert "snapshots have expired" in cli("maintain", "totals", "--expire-days", "2")
    lake_case.check("totals")


@pytest.mark.long
def test_the_doctor_names_tables_that_are_suspended_late_or_unserved(cli: Cli, lake_case: LakeCase) -> None:
    cli("create", "-", "--no-wait", stdin=TOTALS)
    lake_case.pg("update lake.refresh set created_at = created_at - interval '1 minute'")
    lake_case.pg(
        "update lake.dt set state = 'suspended', suspended_by = 'failures', suspended_at = now(), error_streak = 5"
        " where name = 'totals'"
    )
    found = _json(cli("--json", group="doctor"))
    assert [
        (row["level"], row["subject"]) for row in found if "lake" in row["subject"] or "main" in row["subject"]
    ] == [
        ("warning", "command lake_refresh"),
        ("warning", "main.totals"),
        ("warning", "lake"),
    ]
    assert "suspended after 5 failed refreshes" in found[1]["finding"]
