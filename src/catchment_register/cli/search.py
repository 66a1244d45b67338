"""``catchment register search``: units by identifier or by words of their names."""

from __future__ import annotations

import re
from typing import Annotated

import typer
from psycopg.rows import dict_row

from catchment_register.cli.database import Dsn, open_register
from catchment_register.cli.output import Json, print_rows
from catchment_register.cli.report import read_day
from catchment_register.report.figures import UNIT_TYPES, check_choice
from catchment_register.schema import loader

COLUMNS = ("unit_type", "unit_id", "ident", "name", "region", "activity", "employees", "status", "enterprise_id")


def word_query(text: str) -> str:
    """All words of the text as PostgreSQL asks for them, the last one as a beginning; empty if there is none."""
    words = re.findall(r"\w+", text.lower())
    return " & ".join([*(f"'{word}'" for word in words[:-1]), *(f"'{word}':*" for word in words[-1:])])


def search(
    text: Annotated[str, typer.Argument(help="An identifier, or words of a name; the last may be its beginning.")],
    unit_type: Annotated[str | None, typer.Option(help=f"One of {', '.join(UNIT_TYPES)}.")] = None,
    region: Annotated[str | None, typer.Option(metavar="PATH", help="In this region.")] = None,
    activity: Annotated[str | None, typer.Option(metavar="PATH", help="With this activity.")] = None,
    sector: Annotated[str | None, typer.Option(metavar="PATH", help="In this sector.")] = None,
    at: Annotated[str | None, typer.Option(metavar="DAY", help="As of this day, instead of the newest state.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Find published units: an identifier exactly first, then names with all the words."""
    if unit_type is not None:
        check_choice("unit type", unit_type, UNIT_TYPES)
    asked = {"text": text.strip(), "words": word_query(text), "unit_type": unit_type, "region": region}
    asked |= {"activity": activity, "sector": sector, "at": read_day(at), "limit": limit}
    with open_register(dsn) as conn, conn.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(loader.query("search"), asked).fetchall()
    print_rows(rows, COLUMNS, as_json=as_json, empty="No unit is found.")
