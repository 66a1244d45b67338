"""Fixtures that only these tests load: they import a web server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dashboard.lake import build
from tests.fixtures.dashboard import dashboard
from tests.fixtures.lake import LakeStates
from tests.fixtures.lake_case import LakeCase

__all__ = ["dashboard"]


@pytest.fixture
def lake_case(lake_states: LakeStates, tmp_path: Path) -> Iterator[LakeCase]:
    """A lake of the test's own with the tables of ``build``."""
    with lake_states.copy(build, tmp_path / "lake") as case:
        yield case


@pytest.fixture
def lake_db(lake_case: LakeCase) -> str:
    return lake_case.dsn
