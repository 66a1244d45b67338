"""Metrics of an app, as ``prometheus_client`` asks for them, without importing it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from catchment.errors import DefinitionRefused
from catchment.model.check import shown


class Collector(Protocol):
    """A metric or a collector of ``prometheus_client``: gives metric families when it is asked."""

    def collect(self) -> Iterable[Any]: ...


def check_collector(collector: Any) -> None:
    """Refuse what cannot be asked for metrics."""
    if isinstance(collector, type) or not callable(getattr(collector, "collect", None)):
        raise DefinitionRefused(
            f"the collector is {shown(collector)}, expected a metric or a collector of prometheus_client"
        )
