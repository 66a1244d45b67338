"""Writes the section on reasons of docs/reference/tables.md: ``python docs/generate_reasons.py``."""

from __future__ import annotations

import re
from pathlib import Path

from catchment.lake.reasons import Reason

PAGE = Path(__file__).parent / "reference" / "tables.md"
INTRO = """\
Codes are stable; `explain`, `describe` and the history show them. This section is written by
`docs/generate_reasons.py`: change `reasons.py`."""
GROUPS = {
    "full": ("Refreshed fully by definition", "Why a definition has the strategy `full`:"),
    "refused": ("Refused", "`create` and `alter` raise `TableRefused` with one of these, and nothing has happened:"),
    "run": ("Decided at a refresh", "`reason` of a refresh whose action was `full`, `reinitialize` or `repair`:"),
    "error": ("Failed", "`error_code` of a refresh that failed; a cancelled one has `CANCELLED`:"),
}


def render() -> str:
    """The section, from its heading to the next."""
    parts = [f"## Reasons\n\n{INTRO}\n"]
    for group, (title, intro) in GROUPS.items():
        rows = [_row(reason) for reason in Reason if reason.group == group]
        parts.append(
            f"### {title}\n\n{intro}\n\n| code | meaning | what to do |\n|---|---|---|\n" + "\n".join(rows) + "\n"
        )
    return "\n".join(parts)


def _row(reason: Reason) -> str:
    hint = f" {reason.hint} " if reason.hint else " "
    return f"| `{reason.value}` | {reason.sentence} |{hint}|"


def placed(page: str) -> str:
    """The page with the section as it should be."""
    return re.sub(r"^## Reasons\n.*?(?=^## )", lambda _: f"{render()}\n", page, flags=re.MULTILINE | re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(placed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
