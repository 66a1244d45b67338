"""*Units*: published units by identifier, number or words of their names."""

from __future__ import annotations

import re
from datetime import date

from psycopg.sql import SQL
from pydantic import Field

from catchment.dashboard import Answer, Query, Reader, Screen
from catchment_register.dashboard.shown import Text, UnitType
from catchment_register.schema import REGISTER

MOST = 50


class UnitsQuery(Query):
    text: Text | None = Field(
        None, description="An identifier, legal_unit/17, a number, or words of a name; the last may be its beginning."
    )
    unit_type: UnitType | None = Field(None, description="Only this type of unit.")


class UnitRow(Answer):
    """A unit as its newest row has it."""

    unit_type: str
    unit_id: int
    ident: str | None
    name: str | None
    region: str | None
    activity: str | None
    sector: str | None
    employees: float | None
    status: str | None
    enterprise_id: int | None
    valid_from: date
    valid_to: date | None = Field(description="Null if it is open.")


class UnitsAnswer(Answer):
    """At most 50 units, those that the text names exactly first."""

    units: list[UnitRow]
    has_more: bool


# An open end is no date of Python.
_SEARCH = (
    "select s.unit_type, s.unit_id, s.ident, s.name, s.region, s.activity, s.sector, s.employees, s.status,"
    " s.enterprise_id, s.valid_from, nullif(s.valid_to, 'infinity') as valid_to from ({search}) as s"
)


async def read(reader: Reader, query: UnitsQuery) -> UnitsAnswer:
    if query.text is None:
        return UnitsAnswer(units=[], has_more=False)
    inner = re.sub(r";\s*$", "", REGISTER.query("search"))
    with REGISTER.translated():
        rows = await reader.rows(
            SQL(_SEARCH).format(search=SQL(inner)),  # type: ignore[arg-type]  # text of the package
            text=query.text,
            unit_type=query.unit_type,
            at=None,
            region=None,
            activity=None,
            sector=None,
            limit=MOST + 1,
        )
    return UnitsAnswer(units=[UnitRow(**row) for row in rows[:MOST]], has_more=len(rows) > MOST)


def _title(answer: UnitsAnswer) -> str:
    number = len(answer.units)
    if number == 0:
        return "No unit"
    return f"{number} {'unit' if number == 1 else 'units'}" + (" and more" if answer.has_more else "")


SCREEN = Screen(
    name="register.units",
    path="/register/units",
    summary="Published units, by identifier, number or name.",
    query=UnitsQuery,
    answer=UnitsAnswer,
    read=read,
    title=_title,
    template="register/units.html",
    section="register",
)
