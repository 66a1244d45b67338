"""For machines: whether it lives, whether it can work, and its figures for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from catchment.dashboard.database import Row
from catchment.dashboard.endpoints import guarded
from catchment.dashboard.requests import asker_of
from catchment.dashboard.site import Site

_FIGURES = """
select queue, ready, later, blocked, processing, waiting, workers,
       coalesce(extract(epoch from worker.now() - oldest_ready_since), 0)::float8 as oldest_ready_seconds
  from worker.queue_figures(worker.now())
"""
PLACES = ("ready", "later", "blocked", "processing", "waiting")


class _Figures(Collector):
    """The queues as they are now, and the dashboard itself."""

    def __init__(self, queues: list[Row], clients: int) -> None:
        self._queues = queues
        self._clients = clients

    def collect(self) -> Iterator[Metric]:
        tasks = GaugeMetricFamily(
            "catchment_queue_tasks", "Unsettled tasks of a queue, counted up to 10,000.", labels=["queue", "place"]
        )
        oldest = GaugeMetricFamily(
            "catchment_queue_oldest_ready_seconds", "How long the oldest ready task waits.", labels=["queue"]
        )
        workers = GaugeMetricFamily("catchment_queue_workers", "Live workers that serve a queue.", labels=["queue"])
        for row in self._queues:
            for place in PLACES:
                tasks.add_metric([row["queue"], place], row[place])
            oldest.add_metric([row["queue"]], max(0.0, row["oldest_ready_seconds"]))
            workers.add_metric([row["queue"]], row["workers"])
        yield from (tasks, oldest, workers)
        yield GaugeMetricFamily("catchment_dashboard_clients", "Open pages that follow events.", value=self._clients)


def health_routes(site: Site) -> list[Route]:
    async def healthz(_request: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readyz(_request: Request) -> Response:
        if await site.database.is_ready():
            return PlainTextResponse("ready\n")
        return PlainTextResponse("the database cannot be used\n", 503)

    async def metrics(request: Request) -> Response:
        asker_of(request)
        async with site.database.reading() as reader:
            rows = await reader.rows(_FIGURES)
        registry = CollectorRegistry()
        registry.register(_Figures(rows, len(site.hub)))
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    return [
        Route("/healthz", healthz, methods=["GET"]),
        Route("/readyz", readyz, methods=["GET"]),
        Route("/metrics", guarded(site, metrics), methods=["GET"]),
    ]
