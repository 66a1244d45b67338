"""What people type to find a unit, as PostgreSQL asks for it."""

from __future__ import annotations

import re


def word_query(text: str) -> str:
    """All words of the text as PostgreSQL asks for them, the last one as a beginning; empty if there is none."""
    words = re.findall(r"\w+", text.lower())
    return " & ".join([*(f"'{word}'" for word in words[:-1]), *(f"'{word}':*" for word in words[-1:])])
