"""Numbers that look random and are not: each is a function of the seed, a kind, a number and a field.

So a unit is the same whatever was made before it, whatever the size of the register is, and on every machine. Python's
own generator would tie a unit to all that came before it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")

_WORD = (1 << 64) - 1
# Steps between numbers and between fields: odd, so that no two meet within any size.
_NUMBER_STEP = 0x9E3779B97F4A7C15
_FIELD_STEP = 0xD1B54A32D192ED03


def mix(value: int) -> int:
    """64 bits that all depend on all bits of ``value`` (the finisher of splitmix64)."""
    value &= _WORD
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _WORD
    return value ^ (value >> 31)


class Stream:
    """The numbers of one kind of thing. A draw has 64 bits; callers cut it into fields of some bits each."""

    __slots__ = ("_key",)

    def __init__(self, seed: int, kind: str) -> None:
        digest = hashlib.blake2b(f"{seed}/{kind}".encode(), digest_size=8).digest()
        self._key = int.from_bytes(digest, "big")

    def draw(self, number: int, field: int = 0) -> int:
        return mix(self._key + number * _NUMBER_STEP + field * _FIELD_STEP)


def spread(weights: Mapping[T, float], size: int = 4096) -> tuple[T, ...]:
    """A table in which each choice fills a share by its weight, so that indexing it with random bits chooses by weight.

    Every choice has one place at least.
    """
    total = sum(weights.values())
    table: list[T] = []
    running = 0.0
    left = len(weights)
    for choice, weight in weights.items():
        running += weight
        left -= 1
        until = min(max(round(size * running / total), len(table) + 1), size - left)
        table.extend([choice] * (until - len(table)))
    return tuple(table)
