"""Arrays as PostgreSQL reads them: one text is cheaper to send than its elements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def numbers(values: Iterable[int]) -> str:
    """An array of numbers as text."""
    return f"{{{','.join(map(str, values))}}}"


def texts(values: Sequence[str | None]) -> str | None:
    """An array of strings as text, or null when there is none."""
    return array_literal(values) if any(values) else None


def array_literal(items: Sequence[str | None]) -> str:
    """An array of strings as text. The usual case is a handful of passes over one string."""
    texts = [item for item in items if item is not None]
    joined = "\n".join(texts)
    if not texts or len(texts) < len(items) or joined.count("\n") >= len(texts):
        return f"{{{','.join(map(_quoted, items))}}}"
    escaped = joined.replace("\\", "\\\\").replace('"', '\\"').replace("\n", '","')
    return f'{{"{escaped}"}}'


def _quoted(item: str | None) -> str:
    if item is None:
        return "null"
    escaped = item.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
