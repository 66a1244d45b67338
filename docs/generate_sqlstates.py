"""Writes the tables of SQLSTATEs in docs/reference: ``python docs/generate_sqlstates.py``.

The docstring of a class begins with its code and what the code means; the rest says more and what to do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from catchment import errors
from catchment_register import errors as register_errors

REFERENCE = Path(__file__).parent / "reference"
PAGES = {"errors.md": errors.BY_SQLSTATE, "register_sql.md": register_errors.BY_SQLSTATE}
HEAD = "| code | exception | meaning | details and remedy |\n|---|---|---|---|\n"
TABLE = re.compile(re.escape(HEAD) + r"(?:\|.*\n)*")


def meaning(code: str, kind: type[Exception]) -> tuple[str, str]:
    """What the code means, and the rest of what its class says."""
    text = " ".join((kind.__doc__ or "").split()).replace("``", "`")
    said = re.fullmatch(rf"`{code}`: (.+?)\.(?: (.*))?", text)
    if said is None:
        raise SystemExit(
            f"the docstring of {kind.__name__} begins with {text[:40]!r}, expected '`{code}`: its meaning.'"
        )
    return said[1], said[2] or ""


def table(codes: Mapping[str, type[Exception]]) -> str:
    """One row for each code, in their order."""
    rows: list[str] = []
    for code, kind in sorted(codes.items()):
        means, more = meaning(code, kind)
        rows.append(f"| `{code}` | `{kind.__name__}` | {means} |{f' {more}' if more else ''} |\n")
    return HEAD + "".join(rows)


def placed(page: str, codes: Mapping[str, type[Exception]]) -> str:
    """The page with the table as it should be."""
    return TABLE.sub(lambda _: table(codes), page, count=1)


if __name__ == "__main__":
    for name, by_code in PAGES.items():
        path = REFERENCE / name
        path.write_text(placed(path.read_text(encoding="utf-8"), by_code), encoding="utf-8")
