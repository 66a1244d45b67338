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
    "refused": ("Refused", "`create` and `alter` raise `TableRefused` with one of these codes and change nothing:"),
    "run": ("Decided at a refresh", "`reason` of a refresh whose action was `full`, `reinitialize` or `repair`:"),
    "error": ("Failed", "`error_code` of a refresh that failed; a cancelled one has `CANCELLED`:"),
}


def render() -> str:
    """The section, from its heading to the next."""
    parts = [f"## Reasons\n\n{INTRO}\n"]
    for group, (title, intro) in GROUPS.items():
        reasons = [reason for reason in Reason if reason.group == group]
        has_examples = any(reason.example for reason in reasons)
        head = ["code", "meaning", *(["example"] if has_examples else []), "what to do"]
        rows = [_row(reason, has_examples=has_examples) for reason in reasons]
        lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|", *rows]
        parts.append(f"### {title}\n\n{intro}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def _row(reason: Reason, *, has_examples: bool) -> str:
    example = f" {f'`{reason.example}` ' if reason.example else ''}|" if has_examples else ""
    hint = f" {reason.hint} " if reason.hint else " "
    return f"| `{reason.value}` | {reason.sentence} |{example}{hint}|"


def placed(page: str) -> str:
    """The page with the section as it should be."""
    return re.sub(r"^## Reasons\n.*?(?=^## )", lambda _: f"{render()}\n", page, flags=re.MULTILINE | re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(placed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
