"""Figures from the derived tables as plain rows: what tables, charts and pictures are made from.

Reads views only, so that any role with read access can use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from psycopg import Connection
from psycopg.rows import dict_row

from catchment_register.errors import ReportRefused
from catchment_register.names import UNIT_TYPES
from catchment_register.schema import REGISTER

Row = dict[str, Any]

RESOLUTIONS = ("year", "year-month")
USUAL_MEASURES = ("countable_count", "countable_added_count", "countable_removed_count", "births", "deaths")
CODE_LISTS = ("activity_category", "region", "sector", "legal_form", "country", "data_source")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a drill-down has come to: codes of the dimensions, None where nothing is chosen. Regions, activities and
    sectors may also be named by their paths."""

    region: str | None = None
    activity: str | None = None
    sector: str | None = None
    legal_form: str | None = None
    country: str | None = None
    status: str | None = None


def read_history(
    conn: Connection[Any],
    unit_type: str,
    resolution: str,
    *,
    first_year: int | None = None,
    last_year: int | None = None,
) -> list[Row]:
    """Rows of ``statistical_history`` in the order of time, each with ``period``: 2024 or 2024-03."""
    check_choice("unit type", unit_type, UNIT_TYPES)
    check_choice("resolution", resolution, RESOLUTIONS)
    years = {"first_year": first_year, "last_year": last_year}
    return _rows(conn, "history", unit_type=unit_type, resolution=resolution, **years)


def read_demography(conn: Connection[Any], unit_type: str) -> list[Row]:
    """Births and deaths by year, as shares of the stock, and how many of those born then are still there today. A row
    without a year has the units born before the history begins."""
    check_choice("unit type", unit_type, UNIT_TYPES)
    return _rows(conn, "demography", unit_type=unit_type)


def read_facets(conn: Connection[Any], unit_type: str, at: date, place: Place) -> Row:
    """How many units there are at a place and a day, their statistics, and what can be chosen next."""
    check_choice("unit type", unit_type, UNIT_TYPES)
    codes = {
        "legal_form": ("legal_form", "code", place.legal_form),
        "country": ("country", "iso_2", place.country),
        "status": ("status", "code", place.status),
    }
    ids = {name: _code_id(conn, *chosen) for name, chosen in codes.items()}
    return _rows(
        conn,
        "facets",
        unit_type=unit_type,
        at=at,
        region=find_path(conn, "region", place.region),
        activity=find_path(conn, "activity", place.activity),
        sector=find_path(conn, "sector", place.sector),
        **ids,
    )[0]["drilldown"]


def find_path(conn: Connection[Any], kind: str, text: str | None) -> str | None:
    """The path of a ``region``, ``activity`` or ``sector`` by its code or its path; None stays None.

    Raises ``ReportRefused`` if no list has it.
    """
    if text is None:
        return None
    paths = _rows(conn, "path", kind=kind, text=text.strip())
    if not paths:
        name = "activity_category" if kind == "activity" else kind
        raise ReportRefused(
            f"there is no {kind} {text!r}",
            hint=f"Give a code or a path of the list; those in use: catchment register report codes {name}",
        )
    return paths[0]["path"]


def read_unit(conn: Connection[Any], text: str) -> list[Row]:
    """The published rows of a unit, in the order of time. Raises ``UnitNotFound`` if no unit is meant, or several."""
    return _rows(conn, "unit", text=text)


def read_used_codes(conn: Connection[Any], name: str) -> list[Row]:
    """Codes of a list that published units have, those above them included."""
    check_choice("code list", name, CODE_LISTS)
    return _rows(conn, f"used_{name}")


def read_today(conn: Connection[Any]) -> date:
    """The day that everything derived refers to."""
    return _rows(conn, "today")[0]["today"]


def check_choice(what: str, value: str, known: tuple[str, ...]) -> None:
    """Raise ``ReportRefused`` unless the value is one of those known."""
    if value not in known:
        raise ReportRefused(f"there is no {what} {value!r}", hint=f"Choose one of {', '.join(known)}.")


def _code_id(conn: Connection[Any], table: str, column: str, code: str | None) -> int | None:
    if code is None:
        return None
    matches = [row for row in _rows(conn, "codes_by_name") if (row["list"], row["code"]) == (table, code)]
    if not matches:
        known = ", ".join(sorted(row["code"] for row in _rows(conn, "codes_by_name") if row["list"] == table))
        hint = f"Look: catchment register report codes {table}" if table in CODE_LISTS else f"There are {known}."
        raise ReportRefused(f"{table} has no {column} {code!r}", hint=hint)
    return matches[0]["id"]


def _rows(conn: Connection[Any], query: str, **parameters: Any) -> list[Row]:
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(REGISTER.query(f"report_{query}"), parameters).fetchall()
