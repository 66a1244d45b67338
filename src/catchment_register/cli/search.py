"""``catchment register search``: units by identifier, by words of their names, or by what they are."""

from __future__ import annotations

from typing import Annotated

import typer
from psycopg.rows import dict_row

from catchment.commands import Dsn, Json, print_rows
from catchment_register.cli.database import open_register
from catchment_register.cli.days import read_day
from catchment_register.cli.numbers import LARGEST_INTEGER
from catchment_register.errors import ReportRefused
from catchment_register.names import UNIT_TYPES
from catchment_register.report.figures import check_choice, find_path
from catchment_register.schema import REGISTER

COLUMNS = ("unit", "ident", "name", "region", "activity", "employees")
EXTRA = ("status", "sector", "enterprise_id", "valid_from", "valid_to")


def search(
    text: Annotated[
        str,
        typer.Argument(
            help="An identifier, legal_unit/17, a number, or words of a name; the last word may be incomplete."
        ),
    ] = "",
    unit_type: Annotated[str | None, typer.Option(help=f"Type of unit: {', '.join(UNIT_TYPES)}.")] = None,
    region: Annotated[
        str | None, typer.Option(metavar="CODE", help="Only units in this region (code or path).")
    ] = None,
    activity: Annotated[
        str | None, typer.Option(metavar="CODE", help="Only units with this activity (code or path).")
    ] = None,
    sector: Annotated[
        str | None, typer.Option(metavar="CODE", help="Only units in this sector (code or path).")
    ] = None,
    at: Annotated[
        str | None, typer.Option(metavar="DAY", help="Search the units as of this day. Defaults to their newest state.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=LARGEST_INTEGER, help="Show at most this many units.")] = 20,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Find published units by identifier or name.

    Units with exactly this identifier come first, then those whose names contain all words. Without text, lists all
    units that match the options.
    """
    if not text.strip() and not (unit_type or region or activity or sector):
        raise ReportRefused("there is nothing to search for", hint="Give a text, or --unit-type, --region, --activity.")
    if unit_type is not None:
        check_choice("unit type", unit_type, UNIT_TYPES)
    asked = {
        "text": text.strip(),
        "unit_type": unit_type,
        "at": read_day(at, "--at", ReportRefused),
    }
    places = {"region": region, "activity": activity, "sector": sector}
    with open_register(dsn) as conn, conn.cursor(row_factory=dict_row) as cursor:
        paths = {kind: find_path(conn, kind, place) for kind, place in places.items()}
        rows = cursor.execute(REGISTER.query("search"), asked | paths | {"limit": limit}).fetchall()
    shown = rows if as_json else [row | {"unit": f"{row['unit_type']}/{row['unit_id']}"} for row in rows]
    print_rows(shown, COLUMNS, as_json=as_json, empty="No unit is found.", extra=EXTRA)
