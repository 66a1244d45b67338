"""Reads one task with its attempts, on a connection of any library: in the transaction that its owner has open."""

from __future__ import annotations

import json
from typing import Any

from catchment.sql import ENGINE
from catchment.store.foreign.sender import Sender


def read_outcome(sender: Sender, task_id: int) -> dict[str, Any] | None:
    """The task as a JSON object, times as text; None if there is none with this id."""
    rows = sender.rows(ENGINE.query("task_outcome"), [str(task_id)])
    return json.loads(rows[0][0]) if rows else None
