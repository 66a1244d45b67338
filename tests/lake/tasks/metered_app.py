"""An app that says which database it finds, and has a metric of its own."""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from catchment import App

app = App(queue="metered")
_registry = CollectorRegistry()
_asked = Counter("metered_asked", "How often somebody asked.", registry=_registry)


class Collected(Collector):
    """All metrics of the app."""

    def collect(self) -> list[Metric]:
        return list(_registry.collect())


app.collector(Collected())


@app.command
def ask() -> str:
    _asked.inc()
    return os.environ["CATCHMENT_DSN"]
