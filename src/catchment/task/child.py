"""Plain values of a context: a child as its join gets it, and progress."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from catchment.model.state import TaskState
from catchment.model.task import TaskId

R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Child(Generic[R_co]):
    """A child, as passed to the join of its parent. ``result`` is what its handler, or its own join, returned.

    It is read by the return annotation of the child's command: the children of ``write``, which returns a ``Chapter``,
    are a ``list[Child[Chapter]]``.
    """

    id: TaskId
    command: str
    payload: Mapping[str, Any]
    state: TaskState
    result: R_co = None  # type: ignore[assignment] - of a child that has none yet
    info: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a handler says it is."""

    done: float
    total: float | None = None
    message: str | None = None

    def members(self) -> dict[str, Any]:
        """The object that ``worker.report_progress`` takes."""
        given = {"done": self.done, "total": self.total, "message": self.message}
        return {name: value for name, value in given.items() if value is not None}
