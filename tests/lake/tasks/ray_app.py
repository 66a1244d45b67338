"""The app of the lake, whose ranges are computed on a cluster by ``tests.lake.tasks.ray_body``."""

from __future__ import annotations

from catchment.lake.refresh import remote
from catchment.lake.tasks.app import app

__all__ = ["app"]

remote.FUNCTION = "tests.lake.tasks.ray_body:compute"
