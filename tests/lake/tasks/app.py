"""The app of the lake, whose subtasks do first what a test says: fail, wait for a file, or never end.

``SUBTASK_ORDERS`` is a folder; ``<table>.json`` in it has ``fail`` (how many attempts of each subtask fail), ``gate``
(a file to wait for) and ``endless``. ``only`` limits all of it to one partition. ``<table>.starts`` gets a line
with the process of each start and the seconds that it may take.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any, cast

from catchment.lake.control.control import Control
from catchment.lake.duck.duck import Duck, Stop
from catchment.lake.refresh import bucket
from catchment.lake.settings import LakeSettings
from catchment.lake.tasks.app import app
from catchment.lake.tasks.attempts import TaskStop
from catchment.lake.types import BucketRange, BucketResult, Order

__all__ = ["app"]

_original = bucket.compute_bucket


def _compute(
    duck: Duck,
    control: Control,
    order: Order,
    keys: BucketRange,
    attempt: bucket.Attempt,
    settings: LakeSettings,
    stop: Stop,
) -> BucketResult:
    path = Path(os.environ["SUBTASK_ORDERS"]) / f"{order.definition.ref.name}.json"
    with path.with_suffix(".starts").open("a") as starts:
        starts.write(f"{os.getpid()} {cast(TaskStop, stop).seconds_left}\n")
    told: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    if told.get("only") in (None, keys.partition):
        if attempt.number <= told.get("fail", 0):
            raise RuntimeError(f"attempt {attempt.number} fails on purpose")
        while "gate" in told and not Path(told["gate"]).exists() and stop.reason() is None:
            time.sleep(0.02)
        if told.get("endless"):
            with duck.turn(stop):
                duck.run("SELECT sum(random()) FROM range(1000000000000)")
    return _original(duck, control, order, keys, attempt, settings, stop)


bucket.compute_bucket = _compute
