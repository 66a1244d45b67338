"""``catchment register report``: what the register tells, as tables, charts and files."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from catchment.commands import Dsn, Json, console, errors, print_json, print_rows
from catchment_register.cli.database import open_register
from catchment_register.cli.days import read_day
from catchment_register.errors import ReportRefused
from catchment_register.names import MEASURES, UNIT_TYPES
from catchment_register.report import chart, plot
from catchment_register.report.export import export_units
from catchment_register.report.figures import (
    CODE_LISTS,
    RESOLUTIONS,
    USUAL_MEASURES,
    Place,
    Row,
    check_choice,
    read_demography,
    read_facets,
    read_history,
    read_today,
    read_unit,
    read_used_codes,
)
from catchment_register.report.panels import Series, panels, partial_until, title

app = typer.Typer(name="report", help="Show the published figures as tables, charts or files.", no_args_is_help=True)

UnitType = Annotated[str, typer.Option("--unit-type", help=f"Type of unit: {', '.join(UNIT_TYPES)}.")]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the chart to this file: .png, .svg or .pdf.")]
Picture = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Write the chart to this file: .png, .svg or .pdf.")
]
# Columns that identify a unit, the shortest first; and columns that tell people nothing, or repeat others.
_BESIDES = (
    "turnover",
    "legal_form",
    "sector",
    "size",
    "establishments",
    "legal_units",
    "secondary_activity",
    "birth_date",
)
_NEVER = ("valid_from", "valid_to", "valid_until", "search", "hash_slot", "stats", "stats_summary", "last_edit_at")
Csv = Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write all columns to this CSV file.")]


@app.command()
def history(
    unit_type: UnitType = "legal_unit",
    resolution: Annotated[str, typer.Option(help=f"Length of a period: {', '.join(RESOLUTIONS)}.")] = "year",
    first_year: Annotated[
        int | None, typer.Option("--from", metavar="YEAR", min=1, max=9999, help="First year to show.")
    ] = None,
    last_year: Annotated[
        int | None, typer.Option("--to", metavar="YEAR", min=1, max=9999, help="Last year to show.")
    ] = None,
    measure: Annotated[list[str] | None, typer.Option(help="Show this measure; can be repeated.")] = None,
    draws: Annotated[bool, typer.Option("--chart", help="Draw a chart in the terminal.")] = False,
    picture: Picture = None,
    table: Csv = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Show units by year or month.

    Counts units, births, deaths and changes, and sums their statistics.
    """
    with open_register(dsn) as conn:
        published = read_history(conn, unit_type, resolution, first_year=first_year, last_year=last_year)
        today = read_today(conn)
    sums = list(dict.fromkeys(code for row in published for code, f in row["stats_summary"].items() if "sum" in f))
    measures = tuple(measure or (*USUAL_MEASURES, *([] if draws or picture else sums)))
    for name in measures:
        check_choice("measure", name, (*MEASURES, *sums))
    rows = [row | {code: row["stats_summary"].get(code, {}).get("sum") for code in sums} for row in published]
    if table is not None:
        _write_csv(table, rows, is_quiet=as_json)
    series = {name: [float(row[name] or 0) for row in rows] for name in measures}
    labels = [row["period"] for row in rows]
    partial = partial_until(labels, today)
    drawn = panels(series, resolution)
    if picture is not None:
        plot.plot_panels(picture, title("", unit_type, labels), labels, drawn, partial=partial)
    if as_json:
        print_json(published)
        return
    if draws:
        _draw(title("", unit_type, labels), labels, drawn, partial)
        return
    is_part = first_year is not None or last_year is not None
    nothing = "There is no history in these years." if is_part else "There is no history yet."
    print_rows(rows, ["period", *measures], as_json=False, empty=nothing)


@app.command()
def demography(
    unit_type: UnitType = "legal_unit",
    picture: Picture = None,
    table: Csv = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Show births and deaths by year, and the survival of the units born in each year."""
    with open_register(dsn) as conn:
        rows = read_demography(conn, unit_type)
        today = read_today(conn)
    if table is not None:
        _write_csv(table, rows, is_quiet=as_json)
    if picture is not None:
        years = [row for row in rows if row["year"] is not None]
        labels = [str(row["year"]) for row in years]
        series = {name: [float(row[name] or 0) for row in years] for name in ("births", "deaths")}
        plot.plot_panels(
            picture,
            title("Births and deaths", unit_type, labels),
            labels,
            panels(series, "year"),
            partial=partial_until(labels, today),
            bars=True,
        )
    besides = ("ended_alive",)
    columns = [name for name in (rows[0] if rows else ()) if name not in besides]
    shown = rows if as_json else [row | {"year": "earlier" if row["year"] is None else row["year"]} for row in rows]
    print_rows(shown, columns, as_json=as_json, empty="There is no history yet.", extra=besides)


@app.command()
def facets(
    at: Annotated[
        str | None, typer.Option("--at", metavar="DAY", help="Count the units of this day. Defaults to today.")
    ] = None,
    unit_type: UnitType = "legal_unit",
    region: Annotated[
        str | None, typer.Option(metavar="CODE", help="Only units in this region (code or path).")
    ] = None,
    activity: Annotated[
        str | None, typer.Option(metavar="CODE", help="Only units with this activity (code or path).")
    ] = None,
    sector: Annotated[
        str | None, typer.Option(metavar="CODE", help="Only units in this sector (code or path).")
    ] = None,
    legal_form: Annotated[
        str | None, typer.Option(metavar="CODE", help="Only units with this legal form (code).")
    ] = None,
    country: Annotated[str | None, typer.Option(metavar="CODE", help="Only units in this country (code).")] = None,
    status: Annotated[str | None, typer.Option(metavar="CODE", help="Only units with this status (code).")] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Count the units of a day by region, activity, sector and so on.

    Use codes or paths to drill down.
    """
    place = Place(region, activity, sector, legal_form, country, status)
    with open_register(dsn) as conn:
        drilldown = read_facets(conn, unit_type, read_day(at, "--at", ReportRefused) or read_today(conn), place)
    if as_json:
        print_json(drilldown)
        return
    console.print(f"{drilldown['count']} units of type {unit_type} on {drilldown['at']}")
    for code, figures in drilldown["stats_summary"].items():
        if "sum" in figures:
            console.print(
                f"  {escape(code)}: {figures['sum']} in all, {figures['mean']} on average of {figures['count']}"
            )
    for dimension in (
        "physical_region",
        "primary_activity_category",
        "sector",
        "legal_form",
        "physical_country",
        "status",
    ):
        _print_dimension(dimension, drilldown["next"].get(dimension, []))


def _print_dimension(name: str, rows: Sequence[Row], *, shown: int = 15) -> None:
    """What can be chosen next, the largest first, with bars."""
    if not rows:
        return
    console.print(f"\n[bold]{name.replace('_', ' ')}[/bold]")
    largest = max(row["count"] for row in rows)
    table = [
        {
            "code": f"{row['key']} +" if row["has_children"] else row["key"],
            "name": row["name"],
            "units": row["count"],
            "": chart.bar(row["count"], largest, 16),
        }
        for row in rows[:shown]
    ]
    print_rows(table, ["code", "name", "units", ""], as_json=False, empty="")
    if len(rows) > shown:
        console.print(f"  and {len(rows) - shown} more")


@app.command()
def unit(
    which: Annotated[
        str, typer.Argument(metavar="UNIT", help="The unit: an identifier (123 or tax_ident:123), or legal_unit/17.")
    ],
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Show the published history of one unit."""
    with open_register(dsn) as conn:
        rows = read_unit(conn, which)
    if rows and not as_json:
        console.print(f"{rows[0]['unit_type']}/{rows[0]['unit_id']}")
    sums = {code: None for row in rows for code, f in row["stats_summary"].items() if "sum" in f}
    shown = rows if as_json else [sums | _unit_row(row) for row in rows]
    usual = ("valid_from", "valid_to", "name", "status", "region", "activity", "employees")
    print_rows(
        shown,
        usual if as_json else (*usual, *_telling(shown, usual)),
        as_json=as_json,
        empty=f"{which} is not published yet: its changes wait for a round.",
    )


def _unit_row(row: Row) -> Row:
    """A row of a unit with the short titles of a table."""
    sums = {code: figures["sum"] for code, figures in row["stats_summary"].items() if "sum" in figures}
    short = {
        "status": row["status_code"],
        "region": row["physical_region_path"],
        "activity": row["primary_activity_category_code"],
        "secondary_activity": row["secondary_activity_category_code"],
        "employees": None,
        "legal_form": row["legal_form_code"],
        "sector": row["sector_code"],
        "size": row["unit_size_code"],
        "establishments": row["included_establishment_count"],
        "legal_units": row["included_legal_unit_count"],
        "edited": row["last_edit_at"],
    }
    return row | short | sums


def _telling(rows: Sequence[Row], usual: Sequence[str]) -> list[str]:
    """Columns besides the usual ones by which a row differs from the one before it, so that no two look the same."""
    telling: list[str] = []
    for one, two in pairwise(rows):
        if any(one[c] != two[c] for c in (*usual[2:], *telling)):
            continue
        candidates = (*(c for c in _BESIDES if c in two), *(c for c in two if c not in _BESIDES and c not in _NEVER))
        telling += [c for c in candidates if one[c] != two[c]][:1]
    return telling


@app.command()
def units(
    file: Annotated[Path, typer.Argument(help="File to write: .csv or .parquet.")],
    unit_type: Annotated[
        str | None, typer.Option("--unit-type", help=f"Type of unit: {', '.join(UNIT_TYPES)}.")
    ] = None,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="DAY", help="Write the units as of this day. Defaults to their whole history."),
    ] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Write all published units, with all columns, to a file."""
    if unit_type is not None:
        check_choice("unit type", unit_type, UNIT_TYPES)
    with open_register(dsn) as conn:
        count = export_units(conn, file, unit_type=unit_type, at=read_day(at, "--at", ReportRefused))
    if as_json:
        print_json({"file": str(file), "rows": count})
    else:
        console.print(f"{count} rows written to {file}", markup=False)


@app.command()
def codes(
    name: Annotated[str, typer.Argument(metavar="LIST", help=f"Code list: {', '.join(CODE_LISTS)}.")],
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """List the codes that are used by published units."""
    with open_register(dsn) as conn:
        rows = read_used_codes(conn, name)
    print_rows(rows, list(rows[0]) if rows else [], as_json=as_json, empty="No unit has any.")


def _draw(heading: str, labels: Sequence[str], drawn: Mapping[str, Series], partial: str | None) -> None:
    console.print(heading, style="bold", markup=False)
    for scale, series in drawn.items():
        console.print(f"\n{scale}", markup=False)
        console.print(chart.lines(labels, series, width=console.width), markup=False)
    if partial is not None:
        console.print(f"\n{labels[-1]}: until {partial}", style="dim", markup=False)


def _write_csv(file: Path, rows: Sequence[Row], *, is_quiet: bool) -> None:
    """All columns; what has parts, as JSON. ``is_quiet``: standard output is for the answer alone."""
    try:
        with file.open("w", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, list(rows[0]) if rows else [])
            writer.writeheader()
            writer.writerows({name: _csv_value(value) for name, value in row.items()} for row in rows)
    except OSError as error:
        raise ReportRefused(f"{file} cannot be written: {error.strerror}") from error
    (errors if is_quiet else console).print(f"{len(rows)} rows written to {file}", markup=False)


def _csv_value(value: Any) -> Any:
    return json.dumps(value, default=str, ensure_ascii=False) if isinstance(value, dict | list) else value
