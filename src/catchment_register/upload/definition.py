"""Import definitions as the register has them: what the rows of a file are, and where each of our columns comes from.

Each kind of file has two that come with the register, with dates of the job and with dates in the file. Others are made
in SQL, for layouts that come again and again; a file names one instead of a kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from catchment_register.errors import MappingRefused
from catchment_register.upload.mapping import Choice, Mapping

# A mode of the register -> the kind of file, where the two are not called the same.
_KINDS = {"generic_unit": "stats_update"}


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition with its mapping, if it has one."""

    slug: str
    kind: str
    strategy: str
    has_dates: bool
    mapping: Mapping | None


def read_definition(conn: Connection[Any], slug: str) -> Definition:
    """The definition of this name, or ``MappingRefused`` with the names there are."""
    row = conn.execute(
        "select id, mode, strategy, valid_time_from = 'source_columns' from register.import_definition where slug = %s",
        [slug],
    ).fetchone()
    if row is None:
        known = conn.execute("select slug from register.import_definition where is_valid order by slug").fetchall()
        raise MappingRefused(
            f"there is no import definition {slug!r}", hint=f"Choose one of {', '.join(r[0] for r in known)}."
        )
    definition_id, mode, strategy, has_dates = row
    kind: str = _KINDS.get(mode) or mode
    return Definition(slug, kind, strategy, has_dates, _read_mapping(conn, definition_id, slug))


def _read_mapping(conn: Connection[Any], definition_id: int, slug: str) -> Mapping | None:
    rows = conn.execute(
        "select column_name, input_column, value from register.import_mapping where definition_id = %s", [definition_id]
    ).fetchall()
    columns = {ours: theirs for ours, theirs, _ in rows if theirs is not None}
    values = {ours: value for ours, _, value in rows if value is not None}
    return Mapping(slug, columns, values) if rows else None


def check_dates(definition: Definition, choice: Choice) -> None:
    """Raises ``MappingRefused`` if the file has dates and the definition does not read them, or the other way round."""
    if definition.has_dates == choice.has_dates:
        return
    if definition.has_dates:
        raise MappingRefused(f"{definition.slug} takes dates from the rows, and the file has no column valid_from")
    raise MappingRefused(
        f"{definition.slug} takes dates from the job, and the file has a column valid_from",
        hint="Choose a definition with dates in the file, or remove the column.",
    )
