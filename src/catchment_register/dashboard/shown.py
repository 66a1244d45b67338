"""What the screens share: types of units, conditions, and how they are read."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from catchment.dashboard import Answer, Problem, Reader
from catchment_register.errors import UnitNotFound
from catchment_register.schema import REGISTER

UnitType = Literal["establishment", "legal_unit", "enterprise", "power_group"]
UnitId = Annotated[int, Field(ge=1, le=999_999_999, description="The number of a unit.")]
Text = Annotated[str, StringConstraints(max_length=200)]
Path = Annotated[str, StringConstraints(max_length=200)]


class RegisterCondition(Answer):
    """One thing there is to say about why a figure is not up to date, as ``register.explain`` says it."""

    kind: str
    is_blocking: bool
    evidence: dict[str, Any]
    words: str
    remedy: str | None

    @property
    def tasks(self) -> list[int]:
        """The tasks that the words name."""
        other: dict[str, Any] = self.evidence.get("task") or {}
        return [number for number in (self.evidence.get("task_id"), other.get("id")) if number is not None]


async def read_why(reader: Reader, of: str | None) -> list[RegisterCondition]:
    """Why the register, a report or a unit is not up to date; what holds it back comes first."""
    try:
        with REGISTER.translated():
            rows = await reader.rows(REGISTER.query("explain"), of=of)
    except UnitNotFound as error:
        raise Problem(404, str(error), error.hint or "Search for it by its name.") from error
    return sorted((RegisterCondition(**row) for row in rows), key=lambda one: not one.is_blocking)


def is_current(conditions: list[RegisterCondition]) -> bool:
    return not any(condition.is_blocking for condition in conditions)


def unit_name(unit_type: str, count: int = 1) -> str:
    """``legal unit``, or ``legal units``."""
    return unit_type.replace("_", " ") + ("" if count == 1 else "s")
