"""One derivation on each of the two storages."""

from __future__ import annotations

import pytest

from tests.derivation.on_lake import OnLake
from tests.derivation.on_register import OnRegister
from tests.derivation.shape import Derivation, Members


@pytest.fixture(params=["register", "lake"])
def derivation(request: pytest.FixtureRequest) -> Derivation:
    """A derived table of sums by group, of no members yet."""
    if request.param == "register":
        return OnRegister(request.getfixturevalue("reg_db"))
    return OnLake(request.getfixturevalue("lake_case"))


@pytest.fixture
def members(derivation: Derivation) -> Members:
    """Twelve members in four groups, three in each, all derived."""
    made = Members(derivation)
    for member in range(1, 13):
        made.put(member, derivation.groups[member % 4], member)
    derivation.derive()
    assert derivation.published() == made.sums()
    return made
