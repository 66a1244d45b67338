"""What comes of computing a refresh: it is published, or its work is handed back to be spread over subtasks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from catchment.lake.choose.cost import Estimate
from catchment.lake.types import Action, Json, Publication, ReadDone


class SpreadDecision(Protocol):
    """Whether to spread a refresh over subtasks."""

    @property
    def is_parallel(self) -> bool: ...


Decide = Callable[[Estimate, int | None], SpreadDecision]


@dataclass(frozen=True, slots=True)
class Done:
    """A refresh that is published. ``figures`` are for ``Control.finish_refresh``."""

    publication: Publication
    commit_snapshot: int | None
    figures: Json


@dataclass(frozen=True, slots=True)
class Spread:
    """A refresh to be computed by subtasks. ``keys`` is the number of keys in ``akeys_<part>``; None: the whole
    table."""

    action: Action
    reason: str | None
    keys: int | None
    reads: tuple[ReadDone, ...]
    figures: Json
