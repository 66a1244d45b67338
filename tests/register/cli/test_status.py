"""``catchment register status``, ``derive`` and ``verify`` as a person or a script runs them."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from catchment_register.cli import waiting
from catchment_register.watch import Event
from tests.fixtures.register import Cli
from tests.fixtures.register_driver import RegisterDatabase
from tests.register.breaking import break_stage


def test_status_tells_what_waits_and_what_was_done(reg_db: RegisterDatabase, reg_cli: Cli) -> None:
    assert reg_cli("status").stdout == "today is 2026-02-13; everything is published\n"
    reg_db.lu("1", "2025-01-01")
    text = reg_cli("status").stdout
    assert text.startswith("today is 2026-02-13; deriving statistical units")
    assert "logged changes wait for a round" in text
    reg_db.derive()
    told = json.loads(reg_cli("status", "--json", "--rounds", "5").stdout)
    assert (told["is_deriving_statistical_units"], told["is_deriving_reports"], told["is_importing"]) == (False,) * 3
    assert [(r["kind"], r["state"], r["legal_units"]) for r in told["rounds"]] == [("changes", "done", 1)]
    assert "everything is published" in reg_cli("status", "--follow").stdout


def test_status_tells_why_a_round_broke_and_when_it_is_tried_again(reg_db: RegisterDatabase, reg_cli: Cli) -> None:
    reg_db.lu("1", "2025-01-01")
    break_stage(reg_db, "statistical_unit_flush_staging")
    reg_db.conn.execute("call worker.drain('analytics')")
    text = reg_cli("status").stdout
    assert "round 1 failed in statistical_unit_flush_staging: broken on purpose; next attempt at " in text
    assert "0.0" not in text.split("kind")[0]
    told = json.loads(reg_cli("status", "--json").stdout)
    assert told["failure"]["error"] == "broken on purpose"
    # The time of its next try may have come on a busy machine: then it has done nothing yet.
    assert not any(phase["percent"] for phase in told["phases"])


@pytest.mark.long
def test_derive_waits_for_its_own_worker(reg_db: RegisterDatabase, reg_cli: Cli) -> None:
    reg_db.lu("1", "2025-01-01", employees=2)
    done = reg_cli("derive", "--work")
    assert "round 1 (changes): done" in done.stdout
    assert reg_db.value("select count(*) from register.statistical_unit") == 2
    told = json.loads(reg_cli("derive", "--full", "--work", "--json").stdout)
    assert (told["round"]["kind"], told["round"]["state"]) == ("all", "done")
    told = json.loads(reg_cli("derive", "--reports", "--today", "2026-03-01", "--work", "--json").stdout)
    assert told["round"]["kind"] == "reports"
    assert reg_db.value("select max(month) from register.statistical_history where year = 2026") == 3
    told = json.loads(reg_cli("edit", "set", "1", "name=New", "--work", "--json").stdout)
    assert (told["unit_type"], told["unit_id"]) == ("legal_unit", reg_db.unit_id("1"))
    assert told["published_seconds"] > 0


@pytest.mark.long
def test_derive_of_a_round_that_breaks_ends_with_1_in_json_too(reg_db: RegisterDatabase, reg_cli: Cli) -> None:
    reg_db.lu("1", "2025-01-01")
    break_stage(reg_db, "statistical_unit_flush_staging")
    told = reg_cli("derive", "--work", "--json", code=1)
    assert (told.stdout, "the worker ended at " in told.stderr) == ("", True)
    assert reg_db.value("select state from register.round") == "broken"


def test_derive_does_not_wait_by_default(reg_db: RegisterDatabase, reg_cli: Cli) -> None:
    assert reg_cli("derive", "--full").stdout.startswith("asked for: task ")
    assert reg_db.value("select payload from worker.tasks where command = 'collect_changes'") == {"scope": "all"}
    assert "choose one of" in reg_cli("derive", "--full", "--reports", code=2).stderr


def test_verify_ends_well_and_not_so_well(reg_db: RegisterDatabase, reg_cli: Cli) -> None:
    reg_db.lu("1", "2025-01-01", employees=2)
    reg_db.derive()
    done = reg_cli("verify", "--deep", "--reference")
    assert done.stdout.endswith("All rules hold.\n")
    assert "✓ the history by facet sums up to the history" in done.stdout
    reg_db.conn.execute("update register.statistical_history_row set measures.exists_count = 5 where year = 2026")
    done = reg_cli("verify", "--reference", code=1)
    assert "✗ units at the end of a period are those in stock on that day" in done.stdout
    assert "✗ what is published is what the plain reference says" in done.stdout
    told = json.loads(reg_cli("verify", "--json", code=1).stdout)
    assert told["violations"]
    assert set(told["violations"][0]) == {"rule", "detail"}


def test_verify_says_when_derivation_is_under_way(reg_db: RegisterDatabase, reg_cli: Cli) -> None:
    reg_db.lu("1", "2025-01-01")
    told = reg_cli("verify", "--deep").stdout
    assert "- what is published is what a derivation from scratch gives: not compared" in told
    assert "Changes are on their way" in told


def test_states_are_whole_in_a_narrow_terminal(reg_db: RegisterDatabase, reg_cli: Cli) -> None:
    for slug in ("legal_unit_job_dates-1", "a-job-with-a-name-that-is-longer-than-most-names-of-jobs-are"):
        reg_db.conn.execute(
            "select register.create_import_job('legal_unit_job_dates', %s, '2024-01-01', null, null,"
            " '[\"tax_ident\", \"name\"]', '{}', null, null)",
            [slug],
        )
    reg_db.lu("1", "2025-01-01")
    reg_db.derive()
    for command in (("status",), ("import-job", "list")):
        text = reg_cli(*command, COLUMNS="80").stdout
        assert text.count("waiting_for_upload") == 2
        assert "…" not in text
        assert max(map(len, text.splitlines())) <= 80


def test_a_bar_shows_its_text_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = io.StringIO()
    monkeypatch.setattr(waiting, "console", Console(file=drawn, force_terminal=True, width=200))
    event = Event("import", 50.0, "job [/x] of a:x:b", is_over=True)
    assert waiting._bar(iter([event])) == event  # pyright: ignore[reportPrivateUsage] - for terminals alone
    assert event.text in drawn.getvalue()
