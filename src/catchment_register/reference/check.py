"""Compares all that is published with the reference: the units with the base data, the reports with the units."""

from __future__ import annotations

from typing import Any

from psycopg import Connection

from catchment_register.reference.algebra import shown
from catchment_register.reference.compare import differences
from catchment_register.reference.facets import HISTORY_DIMENSIONS, UNIT_DIMENSIONS, history_facets, unit_facets
from catchment_register.reference.groups import check_groups
from catchment_register.reference.history import history
from catchment_register.reference.load import Base, load
from catchment_register.reference.model import Row, UnitRow, all_periods
from catchment_register.reference.published import published_units, read_view
from catchment_register.reference.timeline import derive_units

UNIT_KEY = ("unit_type", "unit_id", "valid_from")
PERIOD_KEY = ("resolution", "year", "month", "unit_type")
FACET_KEY = ("valid_from", "valid_until", "unit_type", *UNIT_DIMENSIONS)


def check_units(conn: Connection[Any], base: Base | None = None) -> list[str]:
    """In what the published units differ from what the base data say."""
    base = base or load(conn)
    wrong = differences(map(_flat, published_units(conn)), map(_flat, derive_units(base)), UNIT_KEY)
    return check_groups(base) + wrong


def check_reports(conn: Connection[Any], rows: list[UnitRow] | None = None) -> dict[str, list[str]]:
    """In what each report differs from what the units say: those given, or else the published ones."""
    units = published_units(conn) if rows is None else rows
    periods = all_periods(units, read_today(conn))
    expected = {
        "statistical_history": (history(units, periods), PERIOD_KEY),
        "statistical_unit_facet": (unit_facets(units), FACET_KEY),
        "statistical_history_facet": (history_facets(units, periods), (*PERIOD_KEY, *HISTORY_DIMENSIONS)),
    }
    return {view: differences(read_view(conn, view), want, key) for view, (want, key) in expected.items()}


def read_today(conn: Connection[Any]) -> Any:
    """The day that everything derived refers to."""
    row = conn.execute("select register.today()").fetchone()
    return None if row is None else row[0]


def _flat(row: UnitRow) -> Row:
    key: Row = {"unit_type": row.unit_type, "unit_id": row.unit_id, "valid_from": row.valid_from}
    return key | {"valid_until": row.valid_until} | dict(row.about) | {"summary": shown(row.summary)}
