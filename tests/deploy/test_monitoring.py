"""The Grafana dashboard and the alert rules: each expression has data when a worker is busy."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from catchment import App, SyncClient
from tests.engine.test_metrics_server import listening
from tests.fixtures.lake import WORKER_SETTINGS
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.prometheus import NO_PROMETHEUS, PROMTOOL, Prometheus, serving
from tests.fixtures.worker import StartWorker, wait_until

ROOT = Path(__file__).parents[2]
DASHBOARD = ROOT / "deploy" / "grafana" / "catchment.json"
RULES = ROOT / "deploy" / "prometheus" / "alerts.yml"
APPS = ("--app", "tests.engine.observed_app:app", "--app", "catchment.lake.tasks.app:app")
# What Grafana puts in.
VARIABLES = {"$__rate_interval": "30s", "$command": ".*", "$queue": ".*"}


def panels() -> list[dict[str, Any]]:
    return [panel for panel in json.loads(DASHBOARD.read_text())["panels"] if panel["type"] != "row"]


def shown() -> Iterator[tuple[str, str]]:
    """The expressions of the dashboard as Grafana sends them, with their panels."""
    for panel in panels():
        for target in panel["targets"]:
            expression = target["expr"]
            for name, value in VARIABLES.items():
                expression = expression.replace(name, value)
            yield panel["title"], expression


def watched(rules: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """What each alert compares with its threshold."""
    for rule in rules:
        watched, _, threshold = re.split(r" (>|<) (?=[\d.]+$)", rule["query"])
        assert float(threshold) >= 0
        yield rule["name"], watched


@pytest.mark.long
def test_every_expression_has_data_of_a_busy_worker(
    lake_case: LakeCase, start_lake_worker: StartWorker, tmp_path: Path
) -> None:
    lake_case.make("source", "k BIGINT", [(1,), (2,)])
    lake_case.create("CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' AS SELECT k, count(*) AS n FROM source GROUP BY k")
    start_lake_worker(*APPS, "--metrics-port", "0", settings={"CATCHMENT_MAX_CONCURRENT_TASKS": "20"})
    target = listening(tmp_path / "worker-1.log")
    refresh_id = lake_case.request("dt")
    with closing(App(lake_case.dsn).sync) as client, serving(tmp_path, target, rules=RULES) as prometheus:
        wait_until(lambda: lake_case.refreshed(refresh_id)["state"] == "SUCCEEDED", seconds=100)
        wait_for_data(prometheus, client)
        wait_until(lambda: {rule["health"] for rule in prometheus.rules()} == {"ok"})
        # The tasks that stumble fail for good, and that is what the alert says.
        wait_until(lambda: "stumble" in firing(prometheus).get("CatchmentTasksFailed", {}), seconds=100)


def wait_for_data(prometheus: Prometheus, client: SyncClient) -> None:
    """Give the worker tasks until every expression has a number."""
    waited = {*shown(), *watched(prometheus.rules())}

    def have_all_data() -> bool:
        client.enqueue_many("greet", [{"name": "again"}] * 5)
        client.enqueue("stumble")
        waited.difference_update({one for one in waited if prometheus.values(one[1])})
        return not waited

    try:
        wait_until(have_all_data, seconds=120)
    except AssertionError:
        pytest.fail(f"without data: {sorted(waited)}")


def firing(prometheus: Prometheus) -> dict[str, set[str]]:
    """The alerts that fire, each with the commands, queues and tables it fires for."""
    return {
        rule["name"]: {
            value
            for alert in rule["alerts"]
            if alert["state"] == "firing"
            for name, value in alert["labels"].items()
            if name in ("command", "queue", "table")
        }
        for rule in prometheus.rules()
    }


@pytest.mark.long
@pytest.mark.timeout(600)
def test_alerts_fire_for_what_happens_in_several_processes(
    lake_case: LakeCase, start_lake_worker: StartWorker, tmp_path: Path
) -> None:
    """A halted lane, a table that cannot be refreshed, and a parallel refresh, in the processes of a table worker."""
    lake_case.make("wide_source", "k BIGINT, v BIGINT")
    lake_case.sql("INSERT INTO wide_source SELECT i, i FROM range(400) AS r(i)")
    lake_case.create(
        "CREATE DYNAMIC TABLE wide TARGET_LAG = '1 day' REFRESH_MODE = INCREMENTAL PARALLEL_THRESHOLD = 2"
        " AS SELECT k, max(v) AS m FROM wide_source GROUP BY k"
    )
    lake_case.make("texts", "v VARCHAR", [("1",)])
    lake_case.create(
        "CREATE DYNAMIC TABLE numbers TARGET_LAG = '1 minute' AS SELECT CAST(v AS INTEGER) AS n FROM texts"
    )
    start_lake_worker("--app", "tests.engine.observed_app:app", "--queue", "observed", "--metrics-port", "0")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (tmp_path / "tables.log").open("wb") as log:
        tables = subprocess.Popen(
            [sys.executable, "-m", "catchment", "table", "worker", "--processes", "2", "--dsn", lake_case.dsn],
            env={**os.environ, **WORKER_SETTINGS, "CATCHMENT_METRICS_PORT": str(port)},
            stderr=log,
        )
    try:
        targets = listening(tmp_path / "worker-1.log"), f"127.0.0.1:{port}"
        with closing(App(lake_case.dsn).sync) as client, serving(tmp_path, *targets, rules=RULES) as prometheus:
            # Before the first refresh: the counters are scraped at 0.
            wait_until(lambda: len(prometheus.values("parallel_refreshes_total")) == 2, seconds=100)
            for _ in range(2):
                refresh_id = lake_case.request("wide")
                wait_until(lambda one=refresh_id: lake_case.refreshed(one)["state"] == "SUCCEEDED", seconds=100)
                lake_case.sql("UPDATE wide_source SET v = v + 1")
            lake_case.sql("INSERT INTO texts VALUES ('no number')")
            client.enqueue("stumble", lane="order 17")
            wait_for_data(prometheus, client)
            wait_until(lambda: sum(prometheus.values("increase(parallel_refreshes_total[10m])")) > 0, seconds=60)
            wait_until(lambda: sum(prometheus.values("increase(subtask_seconds_count[10m])")) > 0, seconds=60)
            wait_until(lambda: firing(prometheus)["CatchmentLaneHalted"] == {"observed"}, seconds=60)
            wait_until(lambda: "stumble" in firing(prometheus)["CatchmentTasksFailed"], seconds=60)
            wait_until(lambda: firing(prometheus)["CatchmentTableFailing"] == {"main.numbers"}, seconds=240)
    finally:
        tables.terminate()
        tables.wait(60)


@pytest.mark.skipif(PROMTOOL is None, reason=NO_PROMETHEUS)
def test_every_alert_fires_when_it_should_and_else_does_not() -> None:
    checked = subprocess.run([PROMTOOL or "", "check", "rules", str(RULES)], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    cases = Path(__file__).with_name("alerts_test.yml")
    tested = subprocess.run([PROMTOOL or "", "test", "rules", str(cases)], capture_output=True, text=True)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    names = re.findall(r"- alert: (\w+)", RULES.read_text())
    assert Counter(re.findall(r"alertname: (\w+)", cases.read_text())) == Counter(dict.fromkeys(names, 2))


def test_no_panel_covers_another() -> None:
    everything = json.loads(DASHBOARD.read_text())["panels"]
    places = Counter(
        (x, y)
        for panel in everything
        for place in [panel["gridPos"]]
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    )
    assert max(places.values()) == 1
    assert max(x for x, _ in places) < 24
    assert len({panel["id"] for panel in everything}) == len(everything)


def test_every_metric_is_in_the_dashboard_or_in_an_alert() -> None:
    page = (ROOT / "docs" / "reference" / "metrics.md").read_text()
    names = re.findall(r"^\| `(\w+)` \| (?:counter|gauge|histogram)", page, re.MULTILINE)
    text = DASHBOARD.read_text() + RULES.read_text()
    assert [name for name in names if name not in text] == []
