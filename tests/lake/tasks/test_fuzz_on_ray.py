"""Random tables under random changes, whose ranges are computed on a cluster of Ray: equal to their definitions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures.lake_case import LakeCase
from tests.fixtures.ray import Cluster, needs_ray, ray_cluster, ray_settings
from tests.fixtures.worker import StartWorker
from tests.lake.fuzz.on_ray import SETTINGS, OnRay
from tests.lake.refresh.test_lake_fuzz import new_seed
from tests.lake.tasks import ray_body
from tests.lake.tasks.crew import APP, LakeCrew

pytestmark = [needs_ray, pytest.mark.long, pytest.mark.timeout(1800)]
KILLING_APP = "tests.lake.tasks.ray_app:app"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("bodies")
    with ray_cluster(cpus=3, variables={ray_body.FOLDER: str(folder)}) as made:
        yield made


@pytest.mark.parametrize("are_killed", [False, True], ids=["undisturbed", "bodies killed"])
@pytest.mark.parametrize("place", range(3))
def test_tables_that_read_each_other_equal_their_definitions(
    place: int, are_killed: bool, lake_case: LakeCase, start_lake_worker: StartWorker, cluster: Cluster
) -> None:
    crew = LakeCrew(lake_case, start_lake_worker)
    bodies = Path(cluster.environment[ray_body.FOLDER]) if are_killed else None
    run = OnRay(lake_case, new_seed(place), definitions=6, crew=crew, bodies=bodies)
    crew.hire(app=KILLING_APP if are_killed else APP, settings={**ray_settings(cluster), **SETTINGS})
    run.play(6)
    assert run.on_ray > 0
    crew.wait_clean(seconds=300)
    assert lake_case.temporary() == []
    print(f"seed {run.seed}: {run.on_ray} ranges on the cluster, {dict(run.done)}")
