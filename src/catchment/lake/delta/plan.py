"""What is known about a definition before any data is read: its parts, how it is refreshed, and how it is stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from catchment.lake.delta.layout import Layout
from catchment.lake.delta.relation import Block, Table
from catchment.lake.delta.states import States
from catchment.lake.reasons import Reason

PlanStrategy = Literal["delta", "keys", "full"]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One branch of the top-level UNION ALL, counted from 1, or the whole definition. Its outputs are c1, c2, ….

    ``is_unique``: there is at most one row for a key. ``key_types`` are the types of the key as it is computed.
    """

    number: int
    block: Block
    is_unique: bool
    key_types: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """All that is known about a definition before any data is read.

    ``strategy`` is full if and only if there is a ``reason``. ``is_always_due``: the result may change while no source
    does. ``definition`` is the query itself over ``o<i>``, the truth that everything else has to equal; ``query`` its
    text, with the queries of views in their place. ``clock`` is the number of the clock, if rows are filtered by time.
    """

    definition_hash: str
    tables: tuple[Table, ...]
    parts: tuple[Part, ...]
    strategy: PlanStrategy
    reason: Reason | None
    is_always_due: bool
    layout: Layout
    states: States | None
    definition: exp.Query
    query: str
    clock: int | None = None
