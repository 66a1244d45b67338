"""Compares rows with rows: published ones with those that should be there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def differences(published: Iterable[Row], expected: Iterable[Row], key: Sequence[str], *, limit: int = 5) -> list[str]:
    """In what two sets of rows differ, at most ``limit`` lines. Published rows may have more columns."""
    ours, theirs = _by_key(published, key), _by_key(expected, key)
    lines = [f"missing: {_named(key, k)}" for k in theirs if k not in ours]
    lines += [f"too much: {_named(key, k)}" for k in ours if k not in theirs]
    for k in theirs:
        for got, want in zip(ours.get(k, []), theirs[k], strict=False):
            wrong = [c for c in want if c not in got or got[c] != want[c]]
            lines += [f"{_named(key, k)}: {c} is {_shown(got, c)}, should be {want[c]!r}" for c in wrong]
        if k in ours and len(ours[k]) != len(theirs[k]):
            lines.append(f"{_named(key, k)}: {len(ours[k])} rows, should be {len(theirs[k])}")
    return lines[:limit]


def _by_key(rows: Iterable[Row], key: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[c] for c in key), []).append(row)
    return groups


def _shown(row: Row, column: str) -> str:
    return repr(row[column]) if column in row else "missing"


def _named(key: Sequence[str], values: Iterable[Any]) -> str:
    return ", ".join(f"{c} {v}" for c, v in zip(key, values, strict=True))
