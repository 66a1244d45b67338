"""Brings codes into their list: one upsert for each list, and what had to be skipped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any, LiteralString

from psycopg import Connection
from psycopg.errors import UniqueViolation
from psycopg.sql import SQL, Composable, Composed, Identifier, Literal
from psycopg.types.json import Jsonb

from catchment_register.codes.edition import Edition, find_edition
from catchment_register.codes.kinds import KINDS, Kind
from catchment_register.codes.read import Code, Problem, Reading, parse_codes
from catchment_register.errors import CodesRefused
from catchment_register.schema import REGISTER


@dataclass(frozen=True, slots=True)
class Loading:
    """What came of a file."""

    added: int
    changed: int
    unchanged: int
    disabled: int
    problems: tuple[Problem, ...]


def load_codes(
    conn: Connection[Any], kind: Kind, reading: Reading, *, version: str | None = None, replaces: bool = False
) -> Loading:
    """Write what was read. ``replaces``: codes that are not in the file are disabled, those that are stay as they are.

    ``version`` is the edition of the list: a version of regions, which is created if it does not exist, or a standard
    of activities; without one the configured edition. Several codes are written or none.
    """
    with REGISTER.translated(), conn.transaction():
        edition = find_edition(conn, kind, version)
        codes, problems = _under_parents(conn, kind, reading.codes, edition)
        if kind.is_ordered:
            codes, taken = _with_free_columns(conn, kind, codes)
            codes = _in_order(conn, kind, codes)
            problems = [*problems, *taken]
        columns = {*reading.columns, *(column for code in codes for column in code.values)}
        rows = [{kind.key.name: code.key, **edition.values, **code.values} for code in codes]
        if kind.name == "status" and any(row.get("assigned_by_default") for row in rows):
            # There is at most one, also between two rows of the upsert.
            conn.execute("update register.status set assigned_by_default = false where assigned_by_default")
        added, changed = _upsert(conn, kind, sorted(columns), rows)
        disabled = _disable_others(conn, kind, rows, edition) if replaces else 0
    problems = tuple(sorted((*reading.problems, *problems), key=lambda p: p.line))
    return Loading(added, changed, len(rows) - added - changed, disabled, problems)


def load_countries(conn: Connection[Any]) -> Loading:
    """The countries that ship with the package."""
    text = (resources.files("catchment_register.codes") / "countries.csv").read_text(encoding="utf-8")
    kind = KINDS["country"]
    return load_codes(conn, kind, parse_codes(text.splitlines(keepends=True), kind))


def _under_parents(
    conn: Connection[Any], kind: Kind, codes: Iterable[Code], edition: Edition
) -> tuple[list[Code], list[Problem]]:
    """Codes whose broader codes are there too. Activities get theirs: those follow from the digits."""
    given = {code.key: code for code in codes}
    if kind.key.name != "path":
        return list(given.values()), []
    known = {r[0] for r in conn.execute(_text("select t.path from {table} as t where {scope}", kind, edition))}
    problems: list[Problem] = []
    for code in sorted(given.values(), key=lambda c: c.key.count(".")):
        missing = [p for p in _above(code.key) if p not in known and p not in given]
        if missing and not edition.derives_path:
            problems.append(Problem(code.line, f"{code.key} has no {missing[-1]} above it"))
            del given[code.key]
            continue
        for path in missing:
            given[path] = Code(code.line, path, {"name": _name(conn, path) or edition.shown_code(path)})
    if kind.name == "activity":
        given = {k: replace(c, values=c.values | {"code": edition.shown_code(k)}) for k, c in given.items()}
    return sorted(given.values(), key=lambda c: c.key), problems


def _name(conn: Connection[Any], path: str) -> str | None:
    """What a section or a division of activities is called; other lists derive no paths."""
    row = conn.execute("select register.activity_name(%s)", [path]).fetchone()
    return None if row is None else row[0]


def _above(path: str) -> list[str]:
    """All broader paths, the broadest first."""
    parts = path.split(".")
    return [".".join(parts[:n]) for n in range(1, len(parts))]


def _with_free_columns(conn: Connection[Any], kind: Kind, codes: list[Code]) -> tuple[list[Code], list[Problem]]:
    """Codes that import files have no other column for: those of the ordered lists are columns of files."""
    rows = conn.execute(
        "select c, register.column_problem(%s, c) from unnest(%s::text[]) as c", [kind.table, [c.key for c in codes]]
    ).fetchall()
    taken = {code: problem for code, problem in rows if problem is not None}
    problems = [Problem(c.line, f"{c.key} cannot be a code: {taken[c.key]}") for c in codes if c.key in taken]
    return [c for c in codes if c.key not in taken], problems


def _in_order(conn: Connection[Any], kind: Kind, codes: list[Code]) -> list[Code]:
    """Codes without a priority keep the one they have, or join at the end."""
    known: dict[str, int] = dict(
        conn.execute(_text("select t.code, t.priority from {table} as t", kind, Edition())).fetchall()
    )
    last = max([*known.values(), *(c.values.get("priority") or 0 for c in codes)], default=0)
    placed: list[Code] = []
    for code in codes:
        priority = code.values.get("priority") or known.get(code.key)
        if priority is None:
            last = priority = last + 1
        placed.append(replace(code, values=code.values | {"priority": priority}))
    return placed


def _upsert(conn: Connection[Any], kind: Kind, columns: list[str], rows: list[dict[str, Any]]) -> tuple[int, int]:
    key = [*([kind.scope] if kind.scope else []), kind.key.name]
    names = [*key, *columns]
    text = SQL(REGISTER.query("load_codes")).format(
        table=Identifier("register", kind.table),
        columns=_names(names),
        key=_names(key),
        excluded=_names(names, "excluded"),
        stored=_names(names, "t"),
    )
    try:
        row = conn.execute(text, {"rows": Jsonb(rows)}).fetchone()
    except UniqueViolation as error:
        raise CodesRefused(
            f"two codes of {kind.name} would have the same value: {error.diag.message_detail}",
            hint="Leave the column priority out, or give each code another number." if kind.is_ordered else None,
        ) from error
    return (row[0], row[1]) if row else (0, 0)


def _disable_others(conn: Connection[Any], kind: Kind, rows: list[dict[str, Any]], edition: Edition) -> int:
    key = [kind.key.name]
    text = SQL(REGISTER.query("disable_codes")).format(
        table=Identifier("register", kind.table),
        scope=_condition(kind, edition),
        given=_names(key, "g"),
        stored=_names(key, "t"),
    )
    return conn.execute(text, {"rows": Jsonb(rows)}).rowcount


def _text(template: LiteralString, kind: Kind, edition: Edition) -> Composed:
    return SQL(template).format(table=Identifier("register", kind.table), scope=_condition(kind, edition))


def _condition(kind: Kind, edition: Edition) -> Composable:
    """Which rows of the table are the list."""
    if kind.scope is None:
        return SQL("true")
    return SQL("{column} = {id}").format(column=Identifier("t", kind.scope), id=Literal(edition.id))


def _names(names: Iterable[str], alias: str | None = None) -> Composed:
    return SQL(", ").join(Identifier(alias, n) if alias else Identifier(n) for n in names)
