"""When a cluster of Ray is asked to compute a range, and when the worker does not try."""

from __future__ import annotations

import pytest

from catchment.lake.tasks import cluster
from catchment.lake.tasks.cluster import Cluster
from catchment.runtime.ray.waiting import RayUnavailable
from tests.fixtures.ray import needs_ray

pytestmark = needs_ray


def test_a_cluster_without_room_is_left_alone_for_as_long_as_it_was_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "AGAIN_SECONDS", 0.0)
    found = Cluster()
    found.check()
    found.failed(RayUnavailable("no room"), waited=0)
    found.check()
    found.failed(RayUnavailable("no room"), waited=300)
    with pytest.raises(RayUnavailable, match="no room"):
        found.check()
    found.answered()
    found.check()
