"""``catchment register verify``: whether every rule of the register holds, and what it publishes is right."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from psycopg import Connection
from rich.markup import escape

from catchment.commands import Dsn, Json, console, errors, print_json
from catchment_register.cli.database import open_register
from catchment_register.errors import ReportRefused
from catchment_register.reference.check import check_reports, check_units

# The reference is plain Python: beyond this it takes too long.
REFERENCE_LIMIT = 20_000
RULES = (
    "rows of one key are never valid on the same day",
    "what a row belongs to is there for all of its time",
    "an enterprise that has units has a primary one",
    "a code is in its list",
    "rows of a unit do not overlap",
    "a published unit exists",
    "a unit is published",
    "a row is in the slot of its facet",
    "codes in use are counted",
    "units that are related are in one power group",
    "a power group is what its legal units are at the time",
    "units at the end of a period are those in stock on that day",
    "facets of units count every counted row once",
    "the history by facet sums up to the history",
    "values of the history by facet sum up to those of the history",
    "a report has no row about nothing",
    "logged changes belong to an open round or to none",
    "an open round has a task that continues with it",
    "nothing is staged for a round that is over",
    "changes of units are kept until every report has them",
    "no report waits to be rebuilt while nothing is under way",
)
DEEP = "what is published is what a derivation from scratch gives"
REFERENCE = "what is published is what the plain reference says"


@dataclass(frozen=True, slots=True)
class Violation:
    rule: str
    detail: str


def verify(
    deep: Annotated[
        bool, typer.Option("--deep", help="Derive everything again and compare; nothing is changed.")
    ] = False,
    reference: Annotated[
        bool,
        typer.Option(
            "--reference", help=f"Compare with the reference implementation; at most {REFERENCE_LIMIT} rows of units."
        ),
    ] = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Check every rule of the register.

    The exit code is 1 if a rule is violated.
    """
    with open_register(dsn) as conn, errors.status("checking the rules") as status:
        violations = _violations(conn, deep=deep)
        if reference:
            status.update("comparing with the reference")
            violations += _reference(conn)
        under_way = _is_under_way(conn)
    rules = [*RULES, *([DEEP] if deep else []), *([REFERENCE] if reference else [])]
    if as_json:
        print_json({"rules": rules, "under_way": under_way, "violations": [vars_of(v) for v in violations]})
    else:
        _print(rules, violations, under_way=under_way)
    if violations:
        raise typer.Exit(1)


def vars_of(violation: Violation) -> dict[str, str]:
    return {"rule": violation.rule, "detail": violation.detail}


def _violations(conn: Connection[Any], *, deep: bool) -> list[Violation]:
    with conn.transaction(force_rollback=True):
        rows = conn.execute("select rule, detail from register.check_register(%s)", [deep]).fetchall()
    return [Violation(*row) for row in rows]


def _reference(conn: Connection[Any]) -> list[Violation]:
    row = conn.execute("select count(*) from register.statistical_unit_row").fetchone()
    if row is not None and row[0] > REFERENCE_LIMIT:
        raise ReportRefused(
            f"the register has {row[0]} rows of units, more than the reference can check",
            hint=f"It is for up to {REFERENCE_LIMIT}; use --deep.",
        )
    with conn.transaction(force_rollback=True):
        differences = check_units(conn) + [
            f"{view}: {line}" for view, lines in check_reports(conn).items() for line in lines
        ]
    return [Violation(REFERENCE, detail) for detail in differences]


def _is_under_way(conn: Connection[Any]) -> bool:
    row = conn.execute("select register.is_deriving_statistical_units() or register.is_deriving_reports()").fetchone()
    return bool(row and row[0])


def _print(rules: list[str], violations: list[Violation], *, under_way: bool, shown: int = 5) -> None:
    counted = Counter(v.rule for v in violations)
    for rule in [*rules, *(r for r in counted if r not in rules)]:
        if rule == DEEP and under_way and not counted[rule]:
            console.print(f"[yellow]-[/yellow] {escape(rule)}: not compared")
            continue
        if not counted[rule]:
            console.print(f"[green]✓[/green] {escape(rule)}")
            continue
        console.print(f"[red]✗[/red] {escape(rule)}: {counted[rule]} times")
        for violation in [v for v in violations if v.rule == rule][:shown]:
            console.print(f"    {escape(violation.detail)}")
    if under_way:
        console.print("Changes are on their way: what is published is compared when they are derived.")
    console.print("All rules hold." if not violations else f"{len(violations)} violations.")
