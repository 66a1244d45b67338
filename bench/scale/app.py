"""The app of the lake, whose ranges are computed on a cluster by ``bench.scale.body``."""

from __future__ import annotations

from catchment.lake.refresh import remote
from catchment.lake.tasks.app import app

__all__ = ["app"]

remote.FUNCTION = "bench.scale.body:compute"
