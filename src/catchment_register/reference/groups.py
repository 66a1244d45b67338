"""Power groups by their rule: legal units that relationships of any time connect, and the root of each day."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from catchment_register.reference.load import Base
from catchment_register.reference.model import Row
from catchment_register.reference.spans import Span, latest

ENDS = ("influencing_id", "influenced_id")


@dataclass(frozen=True)
class Group:
    """A power group: the number that its relationships have, these, and the roots that people chose."""

    number: int | None
    relationships: list[Row]
    chosen: list[Row]

    @cached_property
    def units(self) -> set[int]:
        return {r[end] for r in self.relationships for end in ENDS}

    @cached_property
    def tops(self) -> set[int]:
        """Units that nobody ever influences."""
        return self.units - {r["influenced_id"] for r in self.relationships}

    @cached_property
    def leader(self) -> int | None:
        """The root that relationships do not tell, because none or several are at the top: who influences most."""
        if len(self.tops) == 1:
            return None
        return min(self.units, key=lambda unit: (-len(self._below(unit)), unit))

    @cached_property
    def levels(self) -> dict[int, int]:
        """How far each unit is below the nearest top; units that no top reaches have no level."""
        level, layer, known = 0, set(self.tops), dict.fromkeys(self.tops, 0)
        while layer:
            level += 1
            layer = {r["influenced_id"] for r in self.relationships if r["influencing_id"] in layer} - known.keys()
            known |= dict.fromkeys(layer, level)
        return known

    def members(self, stretch: Span) -> list[int]:
        """The units that are related in a stretch of time."""
        return sorted({r[end] for r in self._now(stretch) for end in ENDS})

    def root(self, stretch: Span) -> int:
        """Who describes the group: of those in it at the time the chosen one, or one that nobody influences."""
        chosen = latest(self.chosen, stretch)
        written = self.leader if chosen is None else chosen["custom_root_legal_unit_id"]
        led = {r["influenced_id"] for r in self._now(stretch)}
        return min(self.members(stretch), key=lambda unit: (unit != written, unit not in self.tops, unit in led, unit))

    def _now(self, stretch: Span) -> list[Row]:
        return [r for r in self.relationships if latest([r], stretch)]

    def _below(self, unit: int) -> set[int]:
        """Whom a unit influences, directly or through others."""
        reached: set[int] = set()
        layer = {unit}
        while layer:
            layer = {r["influenced_id"] for r in self.relationships if r["influencing_id"] in layer} - reached
            reached |= layer
        return reached - {unit}


def find_groups(base: Base) -> list[Group]:
    """All groups, by the relationships alone. The ids have no meaning: a group has the id that most of its members
    had."""
    groups: list[Group] = []
    for relationships in _connected(base.relationships):
        numbers = Counter(r["derived_power_group_id"] for r in relationships)
        units = {r[end] for r in relationships for end in ENDS}
        number = numbers.most_common(1)[0][0]
        chosen = [r for r in base.roots if r["power_group_id"] == number and r["custom_root_legal_unit_id"] in units]
        groups.append(Group(number, relationships, chosen))
    return groups


def check_groups(base: Base) -> list[str]:
    """In what the groups and levels that are written with relationships differ from the rule."""
    lines: list[str] = []
    owners: defaultdict[int | None, int] = defaultdict(int)
    for group in find_groups(base):
        owners[group.number] += 1
        for row in group.relationships:
            level = group.levels.get(row["influenced_id"])
            written = (row["derived_power_group_id"], row["derived_influenced_power_level"])
            if written != (group.number, level):
                lines.append(f"relationship {row['id']} has group and level {written}, not {(group.number, level)}")
    return lines + [f"{count} groups have the number {number}" for number, count in owners.items() if count > 1]


def _connected(relationships: Iterable[Row]) -> list[list[Row]]:
    """Relationships by the units that they connect."""
    groups: list[tuple[set[int], list[Row]]] = []
    for row in relationships:
        ends = {row[end] for end in ENDS}
        touching = [g for g in groups if g[0] & ends]
        groups = [g for g in groups if not g[0] & ends]
        groups.append((ends.union(*(g[0] for g in touching)), [row, *(r for g in touching for r in g[1])]))
    return [rows for _, rows in groups]
