"""``catchment register edit``: change one unit, and see when that is published."""

from __future__ import annotations

import time
from datetime import date
from typing import Annotated, Any

import typer
from psycopg import Connection
from psycopg.types.json import Jsonb

from catchment.commands import Dsn, Json, console, print_json
from catchment_register.cli.database import open_register
from catchment_register.cli.days import last_day, read_day
from catchment_register.cli.numbers import LARGEST_INTEGER
from catchment_register.cli.waiting import Wait, Work, show, working
from catchment_register.dates import OPEN_END
from catchment_register.errors import EditRefused
from catchment_register.watch import watch_round

app = typer.Typer(name="edit", help="Change units of the register.", no_args_is_help=True)
Unit = Annotated[
    str, typer.Argument(metavar="UNIT", help="The unit: an identifier (123 or tax_ident:123), or legal_unit/17.")
]
From = Annotated[
    str | None, typer.Option("--valid-from", metavar="DAY", help="First day of the change. Defaults to today.")
]
To = Annotated[
    str | None, typer.Option("--valid-to", metavar="DAY", help="Last day of the change. Defaults to an open end.")
]
Comment = Annotated[str | None, typer.Option(help="Reason, recorded with the change.")]


@app.command("set")
def set_values(
    unit: Unit,
    changes: Annotated[
        list[str], typer.Argument(metavar="KEY=VALUE...", help="Columns to set; an empty value removes what is there.")
    ],
    valid_from: From = None,
    valid_to: To = None,
    comment: Comment = None,
    wait: Wait = False,
    work: Work = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Set columns of a unit, by the names of import columns, statistics or identifier types."""
    pairs = [_pair(change) for change in changes]
    values = dict(pairs)
    if len(values) < len(pairs):
        twice = next(key for key, _ in pairs if [k for k, _ in pairs].count(key) > 1)
        raise EditRefused(f"{twice} is given twice", hint="Give each key once; for two periods, edit twice.")
    first, until = _period(valid_from, valid_to)
    with open_register(dsn) as conn:
        kind, unit_id = find_unit(conn, unit)
        conn.execute(
            "select register.edit_unit(%s, %s, %s, %s, %s, %s)", [kind, unit_id, Jsonb(values), first, until, comment]
        )
        seconds = _published(conn, dsn, f"{kind} {unit_id} changed", wait=wait, work=work, is_quiet=as_json)
    _answer(as_json, seconds, unit_type=kind, unit_id=unit_id)


@app.command("end")
def end(
    unit: Unit,
    on: Annotated[str, typer.Option("--on", metavar="DAY", help="First day on which the unit no longer exists.")],
    wait: Wait = False,
    work: Work = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """End a unit and everything that belongs to it."""
    with open_register(dsn) as conn:
        kind, unit_id = find_unit(conn, unit)
        conn.execute("select register.end_unit(%s, %s, %s)", [kind, unit_id, read_day(on, "--on")])
        seconds = _published(conn, dsn, f"{kind} {unit_id} ends before {on}", wait=wait, work=work, is_quiet=as_json)
    _answer(as_json, seconds, unit_type=kind, unit_id=unit_id)


@app.command("delete")
def delete(unit: Unit, wait: Wait = False, work: Work = False, dsn: Dsn = None, as_json: Json = False) -> None:
    """Delete a unit and its whole history."""
    with open_register(dsn) as conn:
        kind, unit_id = find_unit(conn, unit)
        conn.execute("select register.delete_unit(%s, %s)", [kind, unit_id])
        seconds = _published(conn, dsn, f"{kind} {unit_id} deleted", wait=wait, work=work, is_quiet=as_json)
    _answer(as_json, seconds, unit_type=kind, unit_id=unit_id)


@app.command("connect")
def connect(
    unit: Unit,
    enterprise: Annotated[
        int | None,
        typer.Option(min=1, max=LARGEST_INTEGER, help="Id of the enterprise. Defaults to a new one."),
    ] = None,
    valid_from: From = None,
    valid_to: To = None,
    comment: Comment = None,
    wait: Wait = False,
    work: Work = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Move a legal unit to another enterprise."""
    first, until = _period(valid_from, valid_to)
    with open_register(dsn) as conn:
        unit_id = find_unit(conn, unit, kind="legal_unit")[1]
        row = conn.execute(
            "select register.connect_legal_unit(%s, %s, %s, %s, %s)", [unit_id, enterprise, first, until, comment]
        ).fetchone()
        home = row[0] if row else enterprise
        told = f"legal_unit {unit_id} belongs to enterprise {home}"
        seconds = _published(conn, dsn, told, wait=wait, work=work, is_quiet=as_json)
    _answer(as_json, seconds, unit_type="legal_unit", unit_id=unit_id, enterprise_id=home)


@app.command("primary")
def primary(
    unit: Unit,
    valid_from: From = None,
    valid_to: To = None,
    comment: Comment = None,
    wait: Wait = False,
    work: Work = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Make a unit the primary one of its enterprise or legal unit."""
    first, until = _period(valid_from, valid_to)
    with open_register(dsn) as conn:
        kind, unit_id = find_unit(conn, unit)
        conn.execute("select register.set_primary(%s, %s, %s, %s, %s)", [kind, unit_id, first, until, comment])
        seconds = _published(conn, dsn, f"{kind} {unit_id} is primary", wait=wait, work=work, is_quiet=as_json)
    _answer(as_json, seconds, unit_type=kind, unit_id=unit_id)


@app.command("relate")
def relate(
    influencing: Unit,
    influenced: Unit,
    kind: Annotated[str, typer.Option("--type", help="Type of the relationship.")],
    percentage: Annotated[
        float | None, typer.Option(help="Share that the first unit holds of the second, from 0 to 100.")
    ] = None,
    valid_from: From = None,
    valid_to: To = None,
    comment: Comment = None,
    wait: Wait = False,
    work: Work = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Add a relationship by which a legal unit influences another."""
    first, until = _period(valid_from, valid_to)
    with open_register(dsn) as conn:
        one, two = (find_unit(conn, u, kind="legal_unit")[1] for u in (influencing, influenced))
        conn.execute(
            "select register.relate(%s, %s, %s, %s::numeric, %s, %s, %s)",
            [one, two, kind, percentage, first, until, comment],
        )
        told = f"legal_unit {one} influences legal_unit {two}"
        seconds = _published(conn, dsn, told, wait=wait, work=work, is_quiet=as_json)
    _answer(as_json, seconds, influencing_id=one, influenced_id=two)


@app.command("unrelate")
def unrelate(
    influencing: Unit,
    influenced: Unit,
    kind: Annotated[str | None, typer.Option("--type", help="Type of the relationship. Defaults to all types.")] = None,
    valid_from: From = None,
    valid_to: To = None,
    wait: Wait = False,
    work: Work = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """End the relationships by which a legal unit influences another."""
    first, until = _period(valid_from, valid_to)
    with open_register(dsn) as conn:
        one, two = (find_unit(conn, u, kind="legal_unit")[1] for u in (influencing, influenced))
        conn.execute("select register.unrelate(%s, %s, %s, %s, %s)", [one, two, kind, first, until])
        told = f"legal_unit {one} does not influence legal_unit {two}"
        seconds = _published(conn, dsn, told, wait=wait, work=work, is_quiet=as_json)
    _answer(as_json, seconds, influencing_id=one, influenced_id=two)


def find_unit(conn: Connection[Any], text: str, *, kind: str | None = None) -> tuple[str, int]:
    """The kind and the number of the unit with this name."""
    row = conn.execute("select unit_type, unit_id from register.find_unit(%s)", [text]).fetchone()
    unit = (row[0], row[1]) if row else ("", 0)
    if kind is not None and unit[0] != kind:
        raise EditRefused(f"{text} names {unit[0]} {unit[1]}", hint=f"This is for units of type {kind}.")
    return unit


def _pair(change: str) -> tuple[str, str]:
    key, separator, value = change.partition("=")
    if not separator or not key:
        raise EditRefused(f"{change!r} is not understood", hint="Write KEY=VALUE, as employees=12.")
    return key.strip(), value.strip()


def _period(valid_from: str | None, valid_to: str | None) -> tuple[date | None, date]:
    return read_day(valid_from, "--valid-from"), last_day(valid_to, "--valid-to") or OPEN_END


def _published(
    conn: Connection[Any], dsn: str | None, told: str, *, wait: bool, work: bool, is_quiet: bool
) -> float | None:
    """Say what happened, and wait until it is published if asked to; returns how long that took."""
    if not is_quiet:
        console.print(told, markup=False)
    if not (wait or work):
        return None
    started = time.monotonic()
    with working(conn, dsn, starts=work) as goes_on:
        show(conn, watch_round(conn, goes_on), "analytics", quietly=is_quiet, works=work)
        seconds = time.monotonic() - started
    if not is_quiet:
        console.print(f"published {seconds:.2f} s after the change")
    return seconds


def _answer(as_json: bool, seconds: float | None, **about: Any) -> None:
    if as_json:
        print_json({**about, "published_seconds": None if seconds is None else round(seconds, 3)})
