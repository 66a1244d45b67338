"""One derivation on each of the two storages. It is made once in a process, and a test gets a copy of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.derivation.on_lake import OnLake
from tests.derivation.on_register import OnRegister
from tests.derivation.shape import Derivation, Group, Members
from tests.fixtures.lake import LakeStates
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.register import opened
from tests.fixtures.server import cloned


def _first(derivation: Derivation) -> dict[int, tuple[Group, int]]:
    return {member: (derivation.groups[member % 4], member) for member in range(1, 13)}


def _fill(derivation: Derivation) -> None:
    members = Members(derivation)
    for member, (group, value) in _first(derivation).items():
        members.put(member, group, value)
    derivation.derive()
    assert derivation.published() == members.sums()


def _fill_lake(case: LakeCase) -> None:
    _fill(OnLake.install(case))


@pytest.fixture(scope="module")
def filled_register(server: str, register_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Name of a database with a register that is derived, to clone."""
    with cloned(server, register_template) as dsn:
        with opened(dsn, tmp_path_factory.mktemp("filled")) as reg:
            _fill(OnRegister.install(reg))
            name = reg.conn.info.dbname
        yield name


@pytest.fixture(params=["register", "lake"])
def derivation(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Derivation]:
    """A derived table of sums by group: twelve members in four groups, three in each, all derived."""
    if request.param == "register":
        server, template = request.getfixturevalue("server"), request.getfixturevalue("filled_register")
        with cloned(server, template) as dsn, opened(dsn, tmp_path) as reg:
            yield OnRegister(reg)
    else:
        states: LakeStates = request.getfixturevalue("lake_states")
        with states.copy(_fill_lake, tmp_path / "lake") as case:
            yield OnLake(case)


@pytest.fixture
def members(derivation: Derivation) -> Members:
    return Members(derivation, _first(derivation))
