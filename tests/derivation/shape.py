"""The one shape of derivation, as its tests drive it: change, keys, parts, staging, publication.

Members have a value and belong to a group, or to none. What is derived says for each group how many members it has and
the sum of their values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Protocol

Group = str | None
Sums = Mapping[Group, tuple[int, int]]
"""Members and the sum of their values, by group."""


class Derivation(Protocol):
    """A derived table on one of the two storages. A round is taken through its steps by hand."""

    @property
    def groups(self) -> Sequence[Group]:
        """Four groups to put members into; NULL is the first."""
        ...

    def put(self, member: int, group: Group, value: int) -> None:
        """Add a member, or move and change it. Committed at once."""
        ...

    def drop(self, member: int) -> None:
        """Remove a member. Committed at once."""
        ...

    def begin(self) -> None:
        """Begin a round: take what has changed and cut it into parts."""
        ...

    def parts(self) -> list[frozenset[object]]:
        """The keys of each part of the round."""
        ...

    def keys_of(self, members: Mapping[int, Group]) -> frozenset[object]:
        """The keys that these members are derived by."""
        ...

    def compute(self) -> None:
        """Compute all parts of the round and stage what comes of them."""
        ...

    def publish(self) -> None:
        """Publish what is staged; the round ends."""
        ...

    def lose(self) -> None:
        """The round fails before it has published anything."""
        ...

    def derive(self) -> None:
        """Whatever is due is derived."""
        ...

    def published(self) -> Sums:
        """What readers see."""
        ...

    def versions(self) -> object:
        """Something that differs once anything has been published."""
        ...


class Members:
    """What the members are, by hand: the oracle."""

    def __init__(self, derivation: Derivation, values: Mapping[int, tuple[Group, int]] | None = None) -> None:
        self._derivation = derivation
        self.values = dict(values or {})

    def put(self, member: int, group: Group, value: int) -> None:
        self._derivation.put(member, group, value)
        self.values[member] = group, value

    def drop(self, member: int) -> None:
        self._derivation.drop(member)
        del self.values[member]

    def groups_of(self, *members: int) -> dict[int, Group]:
        """The group that each member is in now."""
        return {member: self.values[member][0] for member in members or self.values}

    def sums(self) -> Sums:
        """What is to be published."""
        found: dict[Group, list[int]] = defaultdict(list)
        for group, value in self.values.values():
            found[group].append(value)
        return {group: (len(values), sum(values)) for group, values in found.items()}
