"""Names and literals in SQL text for DuckDB. The only text-level quoting of the package.

Statements about tables of users are built from syntax trees; what is left for text are our own short statements, and
they take every name through ``quoted``. Values are bound where DuckDB allows it, ``literal`` is for the other places.
"""

from __future__ import annotations

from catchment.lake.types import TableRef

ALIAS = "lake"
"""The name under which this process attaches the lake."""

DT_SCHEMA = "dt"
"""The lake schema that holds the content of dynamic tables."""

HIDDEN = "__"
"""The prefix of the names of hidden columns; a definition may not have such an output."""

RID = "__rid"
"""The row id of a source row."""

ROWID = "rowid"
"""What the lake calls the row id. A column of that name hides it."""

WEIGHT = "__w"
"""How often a row was added (positive) or taken away (negative)."""

BUCKET = "__b"
"""The storage bucket of a row: the partition column of every dynamic table."""

BRANCH = "__br"
"""The branch of a top-level UNION ALL that a row comes from."""


def quoted(*parts: str) -> str:
    """The parts as one quoted name: ``quoted("lake", "dt", "t5g1")`` is ``"lake"."dt"."t5g1"``."""
    if not parts:
        raise ValueError("a name needs at least one part")
    return ".".join(_quote(part) for part in parts)


def _quote(part: str) -> str:
    if not part or "\0" in part:
        raise ValueError(f"{part!r} cannot be a name in SQL: it is empty or holds a NUL")
    return '"' + part.replace('"', '""') + '"'


def literal(text: str) -> str:
    """The text as a string literal. For places that take no parameter, such as ATTACH and LOAD."""
    if "\0" in text:
        raise ValueError(f"{text!r} cannot be a literal in SQL: it holds a NUL")
    return "'" + text.replace("'", "''") + "'"


def lake_name(ref: TableRef) -> str:
    """The quoted name of a table of the lake: ``"lake"."main"."orders"``."""
    return quoted(ALIAS, ref.schema, ref.name)


def physical_name(dt_id: int, generation: int) -> str:
    """The table that holds a dynamic table's rows. Ids only, so no user's name gets into paths and error texts."""
    return f"t{dt_id}g{generation}"
