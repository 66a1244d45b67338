"""Editions of a code list: versions of the regions, standards of activities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from catchment_register.codes.kinds import Kind
from catchment_register.errors import SettingRefused

# What the regions belong to if nobody says otherwise.
FIRST_VERSION = "current"


@dataclass(frozen=True, slots=True)
class Edition:
    """The edition that codes belong to; of a list without editions, nothing."""

    scope: str | None = None
    id: int | None = None
    code_pattern: str = "digits"
    derives_path: bool = False

    @property
    def values(self) -> dict[str, Any]:
        """The column that names the edition."""
        return {self.scope: self.id} if self.scope else {}

    def shown_code(self, path: str) -> str:
        """How people write the activity of a path: its digits, or the last label if it has none."""
        digits = "".join(c for c in path if c.isdigit())
        if not digits:
            return path.rpartition(".")[2]
        dotted = self.code_pattern == "dot_after_two_digits" and len(digits) > 2
        return f"{digits[:2]}.{digits[2:]}" if dotted else digits


def find_edition(conn: Connection[Any], kind: Kind, version: str | None) -> Edition:
    """The edition of this code, or the configured one. A version of the regions is made if there is none."""
    if kind.scope is None:
        if version is not None:
            raise SettingRefused(f"{kind.name} has no versions, so --version {version} means nothing")
        return Edition()
    if kind.scope == "standard_id":
        return find_standard(conn, version)
    row = conn.execute("select region_version_id from register.settings").fetchone()
    if version is None and row is not None and row[0] is not None:
        return Edition(kind.scope, row[0])
    return Edition(kind.scope, use_region_version(conn, version or FIRST_VERSION))


def find_standard(conn: Connection[Any], code: str | None = None) -> Edition:
    """A standard of activities by its code, or the configured one."""
    row = conn.execute(
        "select s.id, s.code_pattern, s.derives_path from register.activity_category_standard as s"
        " where s.code = %(code)s or %(code)s::text is null"
        " and s.id = (select activity_category_standard_id from register.settings)",
        {"code": code},
    ).fetchone()
    if row is None:
        known = [r[0] for r in conn.execute("select code from register.activity_category_standard order by code")]
        raise SettingRefused(
            f"there is no standard of activities {code!r}" if code else "no standard of activities is configured",
            hint=f"Known are {', '.join(known)}.",
        )
    return Edition("standard_id", row[0], row[1], row[2])


def use_region_version(conn: Connection[Any], code: str) -> int:
    """The id of a version of the regions, created if it does not exist; the first one becomes the configured one."""
    with conn.transaction():
        conn.execute("insert into register.region_version (code) values (%s) on conflict do nothing", [code])
        row = conn.execute("select id from register.region_version where code = %s", [code]).fetchone()
        if row is None:
            raise SettingRefused(f"the version {code!r} of the regions could not be made")
        conn.execute("update register.settings set region_version_id = %s where region_version_id is null", [row[0]])
        return row[0]
