"""Shows the metrics of several worker processes at one port.

The process that started them serves the port. At each scrape it asks every process, which listens on a port of the
loopback interface, and adds the label ``process``: the place in the crew, which a replacement takes over. Nothing is
added up here, so each counter starts again with its process, as Prometheus expects.
"""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from catchment.runtime.events import Events
from catchment.runtime.metrics_server import MetricsServer

HOST = "127.0.0.1"
# A process waits for the database for 2 s, twice; Prometheus waits for 10 s.
ANSWER_SECONDS = 8


class CrewCollector(Collector):
    """The metrics of the processes at these ports; one that does not answer is skipped."""

    def __init__(self, ports: Sequence[int]) -> None:
        self._ports = ports

    def collect(self) -> Iterator[Metric]:
        with ThreadPoolExecutor(len(self._ports)) as pool:
            answers = list(pool.map(_scrape, self._ports))
        families: dict[str, Metric] = {}
        for place, text in enumerate(answers):
            for family in text_string_to_metric_families(text):
                merged = families.setdefault(family.name, Metric(family.name, family.documentation, family.type))
                for sample in family.samples:
                    merged.samples.append(sample._replace(labels={**sample.labels, "process": str(place)}))
        yield from families.values()

    def describe(self) -> list[Metric]:
        """Registering it asks no process: none has started yet."""
        return []


class MetricsCrew:
    """The metrics port of several processes, from ``start`` to ``stop``."""

    def __init__(self, processes: int, *, host: str, port: int) -> None:
        # Bound and never listened on: the address stays ours, and a process that allows reuse can listen on it.
        self._reserved = [_reserve() for _ in range(processes)]
        self._ports = [reserved.getsockname()[1] for reserved in self._reserved]
        self._server = MetricsServer([CrewCollector(self._ports)], Events(), host=host, port=port)

    def settings_of(self, place: int) -> Mapping[str, str]:
        """Environment variables of the process at this place."""
        return {"CATCHMENT_METRICS_HOST": HOST, "CATCHMENT_METRICS_PORT": str(self._ports[place])}

    def start(self) -> None:
        """Listen; raises ``RequestRefused`` as ``MetricsServer.start`` does."""
        self._server.start()

    def stop(self) -> None:
        self._server.stop()
        for reserved in self._reserved:
            reserved.close()


def _reserve() -> socket.socket:
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind((HOST, 0))
    return reserved


def _scrape(port: int) -> str:
    connection = http.client.HTTPConnection(HOST, port, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", "/metrics")
        return connection.getresponse().read().decode()
    except (OSError, http.client.HTTPException):  # it starts, ends, or is being replaced
        return ""
    finally:
        connection.close()
