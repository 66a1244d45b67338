"""Where units are: fifteen regions with 357 municipalities, a few of them large, and their addresses.

The sizes follow what extracts of a real register show: the largest municipality has 15 % of the units, the next ones 4,
3.5 and 2.5 %, and three of five units are in the largest forty.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from catchment_register.generate.mix import mix, spread
from catchment_register.generate.words import PLACE_HEADS, PLACE_TAILS, STREET_TAILS, STREETS

REGIONS = 15
MUNICIPALITIES = 357
_LARGEST = (15.0, 4.0, 3.5, 2.5)


@dataclass(frozen=True, slots=True)
class Municipality:
    """A municipality: its path is the region's with two more digits, its code the digits of both."""

    path: str
    name: str
    postcodes: int

    @property
    def code(self) -> str:
        return self.path.replace(".", "")


def _make() -> tuple[Municipality, ...]:
    names = [head + tail for head, tail in product(PLACE_HEADS, PLACE_TAILS)]
    # Walks through all names in steps that share no divisor with their number, so that neighbours do not sound alike.
    chosen = [names[n * 317 % len(names)] for n in range(MUNICIPALITIES)]
    return tuple(
        Municipality(f"{n % REGIONS + 1:02}.{n // REGIONS + 1:02}", name, 100 + n * 27) for n, name in enumerate(chosen)
    )


MUNICIPALITY = _make()
REGION_NAMES = tuple(f"{m.name} region" for m in MUNICIPALITY[:REGIONS])

BY_WEIGHT = spread(
    {
        m: _LARGEST[n] if n < len(_LARGEST) else 75.0 / sum(1 / k**0.9 for k in range(4, MUNICIPALITIES)) / n**0.9
        for n, m in enumerate(MUNICIPALITY)
    },
    16384,
)


def street(bits: int) -> str:
    """A street with a number, of 24 bits."""
    name = STREETS[bits % len(STREETS)] + STREET_TAILS[(bits >> 5) % len(STREET_TAILS)]
    return f"{name} {1 + (bits >> 8) % 120}"


def postcode(place: Municipality, bits: int) -> str:
    return f"{place.postcodes + bits % 27:04}"


def code_rows() -> list[tuple[str, str]]:
    """All regions as a code list: path and name."""
    regions = [(f"{n + 1:02}", name) for n, name in enumerate(REGION_NAMES)]
    return sorted([*regions, *((m.path, m.name) for m in MUNICIPALITY)])


def other_place(place: Municipality, bits: int) -> Municipality:
    """Where a unit moves to: two of three stay where they are."""
    return place if bits % 3 else BY_WEIGHT[mix(bits) % len(BY_WEIGHT)]
