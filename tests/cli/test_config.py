"""``catchment config`` shows every setting, where it comes from, and nothing that is secret."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from catchment.lake.settings import LakeSettings
from catchment.model.settings import Settings
from catchment.runtime.settings import WorkerSettings
from tests.fixtures import spare

ROOT = Path(__file__).parents[2]
SHORT = {
    "MAX_CONCURRENT_TASKS",
    "CLAIM_BATCH_SIZE",
    "POLL_INTERVAL_MS",
    "METRICS_PORT",
    "PARALLEL_REFRESH_ENABLED",
    "PARALLEL_MIN_AFFECTED_KEYS",
    "PARALLEL_MAX_WORKERS",
    "PARALLEL_TIMEOUT_SECONDS",
}


def config(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = spare.run("config", *arguments, environment={**os.environ, "COLUMNS": "200"}, timeout=60)
    assert done.returncode == code, done.stderr
    return done


def test_every_setting_of_the_reference_is_shown_and_no_other() -> None:
    page = (ROOT / "docs" / "reference" / "settings.md").read_text("utf-8").split("## Session settings")[0]
    listed = set(re.findall(r"^\| `(CATCHMENT_[A-Z0-9_]+)`", page, re.MULTILINE))
    assert {row["setting"] for row in json.loads(config("--json").stdout)} == listed


def test_a_value_says_which_variable_it_comes_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CATCHMENT_LEASE_SECONDS", "20")
    monkeypatch.setenv("POLL_INTERVAL_MS", "50")
    monkeypatch.setenv("CLAIM_BATCH_SIZE", "10")
    monkeypatch.setenv("CATCHMENT_CLAIM_BATCH_SIZE", "11")
    monkeypatch.setenv("CATCHMENT_GIVE_BACK_SECONDS", "")
    rows = {row["setting"]: row for row in json.loads(config("--json").stdout)}
    expected = {
        "LEASE_SECONDS": (20, "CATCHMENT_LEASE_SECONDS"),
        "POLL_INTERVAL_MS": (50, "POLL_INTERVAL_MS"),
        "CLAIM_BATCH_SIZE": (11, "CATCHMENT_CLAIM_BATCH_SIZE"),
        "GIVE_BACK_SECONDS": (10, "default"),
        "WAKE_UPS": (True, "default"),
    }
    shown = {name: rows[f"CATCHMENT_{name}"] for name in expected}
    assert {name: (row["value"], row["source"]) for name, row in shown.items()} == expected


def test_secrets_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CATCHMENT_S3_SECRET", "CATCHMENT_DASHBOARD_TOKEN", "CATCHMENT_DASHBOARD_PASSWORD"):
        monkeypatch.setenv(name, "hush-hush")
    monkeypatch.setenv("CATCHMENT_DSN", "postgresql://me:hush-hush@nowhere.invalid/shop")
    for arguments in ([], ["--changed"], ["--json"]):
        done = config(*arguments)
        assert "hush" not in done.stdout + done.stderr
    assert "the database shop on nowhere.invalid as user me" in done.stdout
    assert done.stdout.count("set, not shown") == 3

    monkeypatch.setenv("CATCHMENT_DSN", "postgresql://me:hush/hush@nowhere.invalid/shop")
    done = config(code=1)
    assert "hush" not in done.stdout + done.stderr
    assert "CATCHMENT_DSN has a port that is not a number" in done.stderr


def test_invalid_values_are_reported_beside_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METRICS_PORT", "70000")
    monkeypatch.setenv("CATCHMENT_LAKE_THREADS", "two")
    monkeypatch.setenv("CATCHMENT_KEEP_SECONDS", "soon")
    monkeypatch.setenv("CATCHMENT_LEASE_SECONDS", "20")
    done = config("--changed", code=1)
    for name in ("METRICS_PORT", "CATCHMENT_LAKE_THREADS", "CATCHMENT_KEEP_SECONDS"):
        assert f"Error: {name} " in done.stderr
    assert re.search(r"CATCHMENT_LEASE_SECONDS +20", done.stdout)


def test_a_name_that_is_no_setting_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CATCHMENT_LEESE_SECONDS", "20")
    done = config("lease")
    assert "CATCHMENT_LEESE_SECONDS is set in the environment, and there is no such setting." in done.stderr
    assert "Did you mean CATCHMENT_LEASE_SECONDS?" in done.stderr


@pytest.mark.parametrize("kind", [WorkerSettings, LakeSettings])
def test_the_names_without_the_prefix_are_those_of_the_reference(kind: type[Settings]) -> None:
    names = {field: kind.names(field) for field in kind.model_fields}
    assert all(given[0] == f"CATCHMENT_{field.upper()}" for field, given in names.items())
    assert {name for given in names.values() for name in given[1:]} == SHORT & {field.upper() for field in names}
