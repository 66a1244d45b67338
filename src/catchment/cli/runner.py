"""Which worker runs a task, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def runner_of(row: Mapping[str, Any]) -> str:
    """The worker of a row with ``worker_id``, ``host`` and ``pid``: ``7 (web-1, pid 4711)``; empty if no worker runs
    it."""
    if row["worker_id"] is None:
        return ""
    if row["host"] is None:
        return f"{row['worker_id']}, which is gone"
    pid = "" if row["pid"] is None else f", pid {row['pid']}"
    return f"{row['worker_id']} ({row['host']}{pid})"
