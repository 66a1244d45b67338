"""Metrics of an app, as ``prometheus_client`` asks for them, without importing it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol


class Collector(Protocol):
    """A metric or a collector of ``prometheus_client``: gives metric families when it is asked."""

    def collect(self) -> Iterable[Any]: ...
