"""Why a figure is not up to date, as ``register.explain`` says it: on the command line and in the dashboard too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from psycopg import Connection
from psycopg.rows import dict_row

from catchment import Condition
from catchment_register.schema import REGISTER

FIGURES = ("statistical_unit", "statistical_history", "statistical_unit_facet", "statistical_history_facet")


@dataclass(frozen=True, slots=True)
class WhyStale:
    """Why the register, a report or a unit does not show all committed changes. Without a blocking condition, it does.
    ``of`` names the report or unit; it is empty for the register."""

    of: str | None
    conditions: tuple[Condition, ...]

    @property
    def blocking(self) -> tuple[Condition, ...]:
        """The conditions that keep it from being up to date."""
        return tuple(condition for condition in self.conditions if condition.is_blocking)

    @property
    def headline(self) -> str:
        """Whether it is up to date, in a few words."""
        return headline(self.of, self.conditions)

    def __str__(self) -> str:
        return " ".join([self.headline, *(condition.words for condition in self.conditions)])


def headline(of: str | None, conditions: Iterable[Condition]) -> str:
    """Whether the subject is up to date."""
    is_stale = any(condition.is_blocking for condition in conditions)
    return f"{of or 'The register'} is {'not up to date yet' if is_stale else 'up to date'}."


def explain(conn: Connection[Any], of: str | None = None) -> WhyStale:
    """Why the register is not up to date; or a report, by its name; or a unit: ``legal_unit/17``, ``tax_ident:123`` or
    ``123``. Raises ``UnitNotFound`` if no unit is meant, or several."""
    with REGISTER.translated(), conn.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(REGISTER.query("explain"), {"of": of}).fetchall()
    return WhyStale(of, tuple(Condition(**row) for row in rows))
