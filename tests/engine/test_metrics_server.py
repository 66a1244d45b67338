"""What Prometheus sees of a worker while it runs."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from catchment.errors import RequestRefused, ServerUnavailable
from catchment.runtime import metrics_server
from catchment.runtime.events import Event, Events
from catchment.runtime.limiter import Limiter, Load, Signals
from catchment.runtime.metrics import Metrics
from catchment.runtime.metrics_server import MetricsServer, WorkerCollector
from catchment.runtime.options import WorkerOptions
from catchment.runtime.settings import read_options
from catchment.store.depth import QueueDepth
from tests.engine.observed_app import app
from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect
from tests.fixtures.worker import StartWorker, wait_until

APP = "tests.engine.observed_app:app"


@dataclass(frozen=True)
class Scrape:
    """One answer of the endpoint, parsed."""

    text: str

    def value(self, name: str, **labels: str) -> float:
        found = [s.value for f in self._families() for s in f.samples if s.name == name and s.labels == labels]
        assert len(found) == 1, f"{name} {labels}: {found}"
        return found[0]

    def total(self, name: str, **labels: str) -> float:
        """The sum of all series with at least these labels."""
        samples = [s for f in self._families() for s in f.samples if s.name == name]
        return sum(s.value for s in samples if labels.items() <= s.labels.items())

    def has(self, name: str) -> bool:
        return any(s.name == name for f in self._families() for s in f.samples)

    @property
    def types(self) -> dict[str, str]:
        return {family.name: family.type for family in self._families()}

    def _families(self) -> Iterator:
        return iter(text_string_to_metric_families(self.text))


@pytest.fixture
def engine(connect: Connect) -> Engine:
    return Engine(connect())


@pytest.fixture
def scrape(engine: Engine, start_worker: StartWorker, tmp_path: Path) -> Callable[[], Scrape]:
    """Start a worker with metrics on a free port; scrapes it."""
    start_worker("--app", APP, "--metrics-port", "0")
    address = listening(tmp_path / "worker-1.log")

    def once() -> Scrape:
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
            return Scrape(answer.read().decode())

    return once


def listening(log: Path) -> str:
    """The address that a worker says it listens on."""

    def said() -> list[dict]:
        lines = [line for line in log.read_text().splitlines(keepends=True) if line.endswith("\n")]
        return [event for line in lines if (event := json.loads(line))["event"] == "metrics.listening"]

    wait_until(said)
    return f"{said()[0]['host']}:{said()[0]['port']}"


def enqueue(db: str, command: str, payloads: list[dict]) -> None:
    with_dsn = type(app)(db)
    with_dsn.sync.enqueue_many(command, payloads)
    with_dsn.sync.close()


def settled(engine: Engine, count: int) -> bool:
    return engine.value("select count(*) from worker.outcome") == count


def test_the_five_metrics_have_their_names_and_types(scrape: Callable[[], Scrape]) -> None:
    seen = scrape()
    assert {
        "worker_in_flight_tasks": "gauge",
        "worker_tasks_completed": "counter",
        "worker_task_duration_seconds": "histogram",
        "worker_claims": "counter",
        "worker_claim_size": "histogram",
    }.items() <= seen.types.items()
    for name in ("worker_in_flight_tasks", "worker_claims_total", "worker_claim_size_count"):
        seen.value(name)
    # Known commands are there before their first task: what appears with 1 would be no increase.
    assert seen.value("worker_tasks_completed_total", command="greet", queue="observed") == 0
    assert seen.value("worker_attempts_total", command="stumble", queue="observed", outcome="failed") == 0


def test_a_scrape_counts_what_is_in_flight_and_what_has_ended(
    db: str, engine: Engine, scrape: Callable[[], Scrape], tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    enqueue(db, "hold", [{"gate": str(gate)}] * 7)
    wait_until(lambda: scrape().value("worker_in_flight_tasks") == 7)
    busy = scrape()
    assert busy.total("worker_tasks_completed_total") == 0
    assert busy.value("worker_queue_tasks", queue="observed", place="processing") == 7

    enqueue(db, "stumble", [{}] * 2)
    gate.touch()
    wait_until(lambda: settled(engine, 9))
    wait_until(lambda: scrape().value("worker_in_flight_tasks") == 0)
    after = scrape()
    assert after.total("worker_tasks_completed_total") == 7
    assert after.value("worker_tasks_completed_total", command="hold", queue="observed") == 7
    stumbled = {"command": "stumble", "queue": "observed"}
    assert after.value("worker_tasks_failed_total", **stumbled, kind="GiveUp") == 2
    assert after.value("worker_attempts_total", **stumbled, outcome="failed") == 2
    assert after.total("worker_attempts_total") == after.total("worker_task_duration_seconds_count") == 9
    assert after.value("worker_task_duration_seconds_count", **stumbled, outcome="failed") == 2
    assert after.value("worker_claim_size_sum") == 9
    assert after.value("worker_claim_size_count") == after.value("worker_claims_total")
    assert after.value("worker_claim_seconds_count") == after.value("worker_claims_total")


def test_empty_claims_count_as_claims(scrape: Callable[[], Scrape]) -> None:
    wait_until(lambda: scrape().value("worker_claims_total") >= 1)
    assert scrape().value("worker_claim_size_sum") == 0


def test_the_cap_the_limit_and_every_pressure_are_shown(scrape: Callable[[], Scrape]) -> None:
    wait_until(lambda: scrape().value("worker_max_tasks") == 1000)
    seen = scrape()
    assert seen.value("worker_limit_tasks") == 1000
    for reason in ("event_loop", "completer", "latency"):
        assert seen.value("worker_backpressure", reason=reason) in (0, 1)
    assert 0 < seen.value("worker_memory_usage") <= 1
    assert seen.value("worker_event_loop_lag_seconds") >= 0
    assert seen.value("worker_completer_age_seconds") >= 0
    for name in ("worker_releases_total", "worker_fenced_writes_total"):
        assert seen.value(name) == 0


def test_tasks_that_wait_for_their_turn_show_in_the_queue_gauges(db: str, scrape: Callable[[], Scrape]) -> None:
    with_dsn = type(app)(db)
    with_dsn.sync.enqueue("greet", {"name": "later"}, delay=3600)
    with_dsn.sync.close()
    seen = scrape()
    assert seen.value("worker_queue_tasks", queue="observed", place="blocked") == 1
    assert seen.value("worker_queue_oldest_ready_seconds", queue="observed") == 0
    assert seen.value("worker_database_up") == 1
    assert seen.value("worker_queue_paused", queue="observed") == 0
    assert seen.value("worker_queue_halted_lanes", queue="observed") == 0


def test_handlers_in_sql_are_counted_too(committed: Engine, scrape: Callable[[], Scrape]) -> None:
    committed.enqueue(note="fine")
    committed.enqueue(fail="not fine")
    wait_until(lambda: settled(committed, 2))
    wait_until(lambda: scrape().total("worker_task_duration_seconds_count") == 2)
    seen = scrape()
    assert seen.total("worker_tasks_completed_total") == 1
    assert seen.total("worker_tasks_failed_total", kind="sql") == 1


def shown(collector: WorkerCollector) -> Scrape:
    registry = CollectorRegistry()
    registry.register(collector)
    return Scrape(generate_latest(registry).decode())


def unreachable() -> list[QueueDepth]:
    raise ServerUnavailable("the database is away")


def test_a_database_that_does_not_answer_leaves_the_queue_gauges_out() -> None:
    seen = shown(WorkerCollector(Metrics(), lambda: None, unreachable))
    assert not seen.has("worker_queue_tasks")
    assert seen.value("worker_database_up") == 0
    assert seen.value("worker_claims_total") == 0


def test_buckets_count_all_values_up_to_their_bound() -> None:
    metrics = Metrics()
    for size in (0, 1, 50, 5000):
        metrics.claimed(size, 0.0)
    seen = shown(WorkerCollector(metrics, lambda: None, list))
    buckets = [seen.value("worker_claim_size_bucket", le=le) for le in ("0.0", "1.0", "50.0", "1000.0", "+Inf")]
    assert buckets == [1, 2, 3, 3, 4]
    assert seen.value("worker_claim_size_sum") == 5051


@pytest.mark.parametrize(
    ("reason", "signals"),
    [
        ("memory", Signals(memory=0.81)),
        ("event_loop", Signals(loop_lag=0.3)),
        ("completer", Signals(completer_age=2.5)),
        ("latency", Signals(slowest_p99=31)),
    ],
)
def test_each_pressure_has_a_separate_signal(reason: str, signals: Signals) -> None:
    def load() -> Load:
        return Limiter(WorkerOptions(), lambda: signals).load(0, signals)

    seen = shown(WorkerCollector(Metrics(), load, list))
    names = ("memory", "event_loop", "completer", "latency")
    assert [name for name in names if seen.value("worker_backpressure", reason=name)] == [reason]


def _server(events: Events, port: int, host: str = "127.0.0.1") -> MetricsServer:
    return MetricsServer([WorkerCollector(Metrics(), lambda: None, list)], events, host=host, port=port)


def test_a_taken_port_gives_way_to_the_next_free_one() -> None:
    heard: list[Event] = []
    events = Events(heard.append)
    with ExitStack() as stack:
        first = _server(events, 0)
        first.start()
        stack.callback(first.stop)
        taken = heard[-1].fields["port"]
        second = _server(events, taken)
        second.start()
        stack.callback(second.stop)
        warned, listens = heard[-2:]
        assert (warned.name, warned.fields["port"]) == ("metrics.port_taken", taken)
        assert listens.name == "metrics.listening"
        assert taken < listens.fields["port"] < taken + 32
        assert f"port {listens.fields['port']} is used instead" in warned.text
        with urllib.request.urlopen(f"http://127.0.0.1:{listens.fields['port']}/metrics", timeout=10) as answer:
            assert "worker_claims_total" in answer.read().decode()


def test_a_worker_without_any_free_port_runs_without_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics_server, "PORTS_TRIED", 1)
    heard: list[Event] = []
    first = _server(Events(heard.append), 0)
    first.start()
    second = _server(Events(heard.append), heard[-1].fields["port"])
    second.start()
    second.stop()
    first.stop()
    assert heard[-1].name == "metrics.port_taken"
    assert "metrics are not served" in heard[-1].text


def test_an_address_that_cannot_be_bound_is_refused_with_what_to_do() -> None:
    with pytest.raises(RequestRefused, match=r"192\.0\.2\.1:9400") as caught:
        _server(Events(), 9400, host="192.0.2.1").start()
    assert "CATCHMENT_METRICS_HOST" in (caught.value.hint or "")


def test_two_workers_with_the_same_metrics_port_both_run(
    engine: Engine, start_worker: StartWorker, tmp_path: Path
) -> None:
    start_worker("--app", APP, "--metrics-port", "0")
    port = listening(tmp_path / "worker-1.log").rpartition(":")[2]
    second = start_worker("--app", APP, settings={"CATCHMENT_METRICS_PORT": port})
    address = listening(tmp_path / "worker-2.log")
    assert not address.endswith(f":{port}")
    wait_until(lambda: engine.value("select count(*) from worker.worker") == 2)
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
        assert answer.status == 200
    assert second.poll() is None


def test_metrics_are_off_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CATCHMENT_METRICS_PORT", raising=False)
    options = read_options()
    assert (options.metrics_port, options.metrics_host) == (None, "127.0.0.1")


def test_port_and_host_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CATCHMENT_METRICS_PORT", "9400")
    monkeypatch.setenv("CATCHMENT_METRICS_HOST", "0.0.0.0")  # noqa: S104
    options = read_options()
    assert (options.metrics_port, options.metrics_host) == (9400, "0.0.0.0")  # noqa: S104


def test_an_invalid_port_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CATCHMENT_METRICS_PORT", "70000")
    with pytest.raises(RequestRefused, match="CATCHMENT_METRICS_PORT"):
        read_options()
