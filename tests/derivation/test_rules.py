"""What holds for every derivation, wherever its rows are. The register and the dynamic tables share rules and no code:
what is published is always what a computation from nothing would give."""

from __future__ import annotations

import pytest

from tests.derivation.shape import Derivation, Members
from tests.fixtures.often import often


def test_every_changed_key_is_in_exactly_one_part(derivation: Derivation, members: Members) -> None:
    for member in (1, 2, 3, 4):
        members.put(member, members.values[member][0], 100 + member)
    derivation.begin()
    parts = derivation.parts()
    assert len(parts) > 1
    assert sum(map(len, parts)) == len(frozenset().union(*parts)), parts
    assert frozenset().union(*parts) == derivation.keys_of(members.groups_of(1, 2, 3, 4))


@pytest.mark.long
def test_what_has_not_changed_is_in_no_part(derivation: Derivation, members: Members) -> None:
    members.put(4, members.values[4][0], 100)
    derivation.begin()
    assert frozenset().union(*derivation.parts()) == derivation.keys_of(members.groups_of(4))
    derivation.compute()
    derivation.publish()
    assert derivation.published() == members.sums()


@pytest.mark.long
def test_no_change_is_not_everything(derivation: Derivation, members: Members) -> None:
    before = derivation.versions()
    derivation.derive()
    assert derivation.versions() == before
    assert derivation.published() == members.sums()


def test_nothing_is_seen_before_it_is_published(derivation: Derivation, members: Members) -> None:
    before = members.sums()
    members.put(1, None, 100)
    derivation.begin()
    derivation.compute()
    assert derivation.published() == before
    derivation.publish()
    assert derivation.published() == members.sums() != before


@pytest.mark.parametrize("step", often("begun", now_and_then=["computed"]))
def test_a_change_beside_a_round_is_left_for_the_next(derivation: Derivation, members: Members, step: str) -> None:
    members.put(1, members.values[1][0], 100)
    derivation.begin()
    if step == "computed":
        derivation.compute()
    members.put(1, None, 200)
    members.put(13, derivation.groups[1], 13)
    if step == "begun":
        derivation.compute()
    derivation.publish()
    derivation.derive()
    assert derivation.published() == members.sums()


def test_a_group_that_has_vanished_is_deleted(derivation: Derivation, members: Members) -> None:
    gone = derivation.groups[2]
    for member in [member for member, group in members.groups_of().items() if group == gone]:
        members.drop(member)
    derivation.begin()
    derivation.compute()
    derivation.publish()
    assert gone not in derivation.published()
    assert derivation.published() == members.sums()


@pytest.mark.long
def test_members_of_no_group_are_a_group(derivation: Derivation, members: Members) -> None:
    for member in (1, 2, 3):
        members.put(member, None, member)
    members.put(4, derivation.groups[3], 4)
    derivation.begin()
    derivation.compute()
    derivation.publish()
    assert derivation.published() == members.sums()
    assert None in derivation.published()


@pytest.mark.parametrize("step", often("computed", now_and_then=["begun"]))
def test_a_round_that_fails_publishes_nothing_and_loses_nothing(
    derivation: Derivation, members: Members, step: str
) -> None:
    before = members.sums()
    members.put(1, derivation.groups[2], 100)
    members.drop(2)
    derivation.begin()
    if step == "computed":
        derivation.compute()
    derivation.lose()
    assert derivation.published() == before
    members.put(3, None, 300)
    derivation.derive()
    assert derivation.published() == members.sums()


@pytest.mark.long
def test_what_was_published_is_not_applied_again(derivation: Derivation, members: Members) -> None:
    members.put(1, members.values[1][0], 100)
    derivation.begin()
    derivation.compute()
    derivation.publish()
    once = derivation.versions()
    derivation.derive()
    assert derivation.versions() == once
    assert derivation.published() == members.sums()
