"""What a worker gives to handlers that are more than a function: its database, and a place for their metrics."""

from __future__ import annotations

import urllib.request
from pathlib import Path

import pytest
from prometheus_client import Counter

from catchment import App
from catchment.errors import RequestRefused
from catchment.runtime.events import Events
from catchment.runtime.metrics_server import MetricsServer
from tests.engine.test_metrics_server import listening
from tests.fixtures.worker import StartWorker

APP = "tests.lake.tasks.metered_app:app"


def test_handlers_find_the_database_of_their_worker_and_show_their_metrics(
    lake_db: str, start_lake_worker: StartWorker, tmp_path: Path
) -> None:
    start_lake_worker("--app", APP, "--dsn", lake_db, "--metrics-port", "0", dsn="host=/nowhere dbname=none")
    client = App(lake_db)
    address = listening(tmp_path / "worker-1.log")
    task_id = client.sync.enqueue("ask").id
    assert client.sync.task(task_id).result(timeout=30) == lake_db
    client.sync.close()
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    assert "metered_asked_total 1.0" in lines
    assert 'worker_tasks_completed_total{command="ask",queue="metered"} 1.0' in lines


def test_two_metrics_of_one_name_stop_the_start() -> None:
    app = App()
    for _ in range(2):
        app.collector(Counter("metered_twice", "Twice.", registry=None))
    with pytest.raises(RequestRefused, match="metered_twice") as raised:
        MetricsServer(app.commands.collectors, Events(), host="127.0.0.1", port=0)
    assert "app.collector" in (raised.value.hint or "")
