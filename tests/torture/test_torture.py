from __future__ import annotations

from pathlib import Path

import pytest

from tests.torture.run import torture


@pytest.mark.timeout(400)
def test_poison_handlers_and_faults_leave_nothing_behind(db: str, tmp_path: Path) -> None:
    outcome = torture(db, tmp_path, seed=1, seconds=5)
    assert outcome.problems == [], str(outcome)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", [2, 3])
def test_a_longer_run_leaves_nothing_behind(db: str, tmp_path: Path, seed: int) -> None:
    outcome = torture(db, tmp_path, seed=seed, seconds=120)
    assert outcome.problems == [], str(outcome)
