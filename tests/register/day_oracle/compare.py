"""Compares what is published with what the base tables say day by day."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import date
from typing import Any

from psycopg import Connection
from psycopg.rows import dict_row

from catchment_register.report.figures import read_demography
from tests.register.day_oracle.reports import (
    CHANGES,
    HISTORY_DIMENSIONS,
    UNIT_DIMENSIONS,
    Calendar,
    cohorts,
    histories,
    summed,
    unit_facets,
)
from tests.register.day_oracle.units import Row, Unit, read

PRIMARY = ("primary_legal_unit_id", "primary_establishment_id")
TYPES = ("establishment", "legal_unit", "enterprise", "power_group")


def differences(conn: Connection[Any]) -> list[str]:
    """Everything in which the published tables differ from the base tables."""
    calendar = Calendar(read(conn))
    return [
        *_units(conn, calendar),
        *_unit_facets(conn, calendar),
        *_histories(conn, calendar),
        *_cohorts(conn, calendar),
    ]


def _rows(conn: Connection[Any], view: str) -> list[Row]:
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(f"select * from register.{view}").fetchall()


def _days(rows: list[Row], calendar: Calendar) -> list[date]:
    """Days on which something begins or ends, in the base tables or in what is published."""
    published = {r[c] for r in rows for c in ("valid_from", "valid_until")}
    return sorted(published - {date.max} | set(calendar.days))


def _units(conn: Connection[Any], calendar: Calendar) -> list[str]:
    published: defaultdict[Unit, list[Row]] = defaultdict(list)
    primary = {
        (r["unit_type"], r["unit_id"], r["valid_from"]): {c: r[c] for c in PRIMARY}
        for r in _rows(conn, "statistical_unit_row")
    }
    for row in _rows(conn, "statistical_unit"):
        unit = (row["unit_type"], row["unit_id"])
        published[unit].append(row | primary[(*unit, row["valid_from"])])
    wrong: list[str] = []
    for day in _days([r for rows in published.values() for r in rows], calendar):
        expected = calendar.on(day)
        for unit in published.keys() | expected.keys():
            rows = [r for r in published[unit] if r["valid_from"] <= day < r["valid_until"]]
            if len(rows) != (unit in expected):
                wrong.append(f"{unit} on {day}: {len(rows)} rows")
                continue
            if rows:
                wrong += [f"{unit} on {day}: {text}" for text in _differing(rows[0], expected[unit])]
    return wrong


def _differing(row: Row, state: Any) -> list[str]:
    about = state.about | {"used_for_counting": state.counts}
    wrong = [f"{c} is {row[c]!r}, not {v!r}" for c, v in about.items() if row[c] != v]
    figures = summed([state])
    if _shown(row["stats_summary"]) != figures:
        wrong.append(f"statistics are {_shown(row['stats_summary'])}, not {figures}")
    return wrong


def _unit_facets(conn: Connection[Any], calendar: Calendar) -> list[str]:
    rows = _rows(conn, "statistical_unit_facet")
    wrong: list[str] = []
    for day in _days(rows, calendar):
        found: defaultdict[Any, list[Row]] = defaultdict(list)
        for row in rows:
            if row["valid_from"] <= day < row["valid_until"]:
                found[(row["unit_type"], *(row[d] for d in UNIT_DIMENSIONS))].append(row)
        expected = unit_facets(calendar.on(day))
        for key in found.keys() | expected.keys():
            count = sum(r["count"] for r in found[key])
            figures = _merged(_shown(r["stats_summary"]) for r in found[key])
            want = expected.get(key, {"count": 0, "values": {}})
            if (count, figures) != (want["count"], want["values"]):
                wrong.append(f"facet {key} on {day}: {count} {figures}, not {want}")
    return wrong


def _histories(conn: Connection[Any], calendar: Calendar) -> list[str]:
    wrong: list[str] = []
    plain, faceted = histories(calendar)
    for view, expected, dimensions in (
        ("statistical_history", plain, ()),
        ("statistical_history_facet", faceted, HISTORY_DIMENSIONS),
    ):
        key = ("resolution", "year", "month", "unit_type", *dimensions)
        found = {tuple(row[c] for c in key): row for row in _rows(conn, view)}
        for k in found.keys() | expected.keys():
            if k not in found or k not in expected:
                wrong.append(f"{view} {k}: {'missing' if k not in found else 'too much'}")
                continue
            row, want = found[k], expected[k]
            wrong += [
                f"{view} {k}: {measure} is {row[measure]}, not {value}"
                for measure, value in want.items()
                if measure in row and row[measure] != value
            ]
            if _shown(row["stats_summary"]) != want["values"]:
                wrong.append(f"{view} {k}: statistics are {_shown(row['stats_summary'])}, not {want['values']}")
            lacking = [m for m in want if m not in row and m not in (*CHANGES, "values")]
            wrong += [f"{view} has no {m}" for m in lacking]
    return wrong


def _cohorts(conn: Connection[Any], calendar: Calendar) -> list[str]:
    wrong: list[str] = []
    for unit_type in TYPES:
        expected = cohorts(calendar, unit_type)
        rows = read_demography(conn, unit_type)
        for row in rows:
            found = (row["born_then"] or 0, row["alive_today"] or 0)
            want = expected.pop(row["year"], (0, 0)) if row["year"] is not None else (-1, -1)
            if row["year"] is None:
                # Without any history, all are.
                first = min((r["year"] for r in rows if r["countable_count"] is not None), default=9999)
                earlier = [expected.pop(year) for year in sorted(expected) if year < first]
                want = (sum(born for born, _ in earlier), sum(alive for _, alive in earlier))
            if found != want:
                wrong.append(f"{unit_type} born in {row['year']}: {found}, not {want}")
        wrong += [f"{unit_type} born in {year}: missing, not {want}" for year, want in expected.items()]
    return wrong


def _shown(summary: Row) -> Row:
    """Published statistics as ``summed`` tells them."""
    return {
        code: figures["counts"]
        if "counts" in figures
        else tuple(round(float(figures[f]), 2) for f in ("count", "sum", "min", "max"))
        for code, figures in summary.items()
    }


def _merged(summaries: Any) -> Row:
    merged: Row = {}
    for summary in summaries:
        for code, figures in summary.items():
            known = merged.get(code)
            if known is None:
                merged[code] = figures
            elif isinstance(figures, dict):
                merged[code] = dict(Counter(known) + Counter(figures))
            else:
                count, total = known[0] + figures[0], round(known[1] + figures[1], 2)
                merged[code] = (count, total, min(known[2], figures[2]), max(known[3], figures[3]))
    return merged
