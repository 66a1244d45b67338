"""The Grafana dashboard and the alert rules: each expression has data when a worker is busy."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from catchment import App
from tests.engine.test_metrics_server import listening
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.prometheus import NO_PROMETHEUS, PROMTOOL, serving
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


def test_every_expression_has_data_of_a_busy_worker(
    lake_case: LakeCase, start_lake_worker: StartWorker, tmp_path: Path
) -> None:
    lake_case.make("source", "k BIGINT", [(1,), (2,)])
    lake_case.create("CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' AS SELECT k, count(*) AS n FROM source GROUP BY k")
    start_lake_worker(*APPS, "--metrics-port", "0", settings={"CATCHMENT_MAX_CONCURRENT_TASKS": "20"})
    target = listening(tmp_path / "worker-1.log")
    refresh_id = lake_case.request("dt")
    client = App(lake_case.dsn)
    try:
        with serving(tmp_path, target, rules=RULES) as prometheus:
            wait_until(lambda: client.sync.enqueue("greet", {"name": "first"}).id)
            wait_until(lambda: lake_case.refreshed(refresh_id)["state"] == "SUCCEEDED", seconds=100)
            groups = prometheus.ask("rules")["groups"]
            rules = [rule for group in groups for rule in group["rules"]]
            waited = {*shown(), *watched(rules)}

            def have_all_data() -> bool:
                client.sync.enqueue_many("greet", [{"name": "again"}] * 5)
                client.sync.enqueue("stumble")
                waited.difference_update({one for one in waited if prometheus.values(one[1])})
                return not waited

            try:
                wait_until(have_all_data, seconds=120)
            except AssertionError:
                pytest.fail(f"without data: {sorted(waited)}")
            wait_until(lambda: {rule["health"] for rule in _rules(prometheus.ask("rules"))} == {"ok"})
            # The tasks that stumble fail for good, and that is what the alert says.
            wait_until(lambda: "stumble" in _firing(prometheus.ask("rules"), "CatchmentTasksFailed"), seconds=100)
    finally:
        client.sync.close()


def _rules(answer: dict[str, Any]) -> list[dict[str, Any]]:
    return [rule for group in answer["groups"] for rule in group["rules"]]


def _firing(answer: dict[str, Any], name: str) -> set[str]:
    alerts = [alert for rule in _rules(answer) if rule["name"] == name for alert in rule["alerts"]]
    return {alert["labels"]["command"] for alert in alerts if alert["state"] == "firing"}


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
