"""What the two processes of ``catchment dev`` say to each other: JSON objects, one per line, over a socket.

The supervisor first sends an ``Order``, later ``{"stop": "finish"}`` or ``{"stop": "now"}``. The child sends
``{"files": […]}`` when it has read further ones, ``{"database": …}`` with its DSN, null for the embedded server,
``{"serves": true}`` when its worker is registered, and ``{"since": …}``, the time up to which it has shown ends.
When one of them is gone, the other reads the end of the stream.
"""

from __future__ import annotations

from typing import Any, TypedDict


class Order(TypedDict):
    """What a child shall run. ``since``: from when on it shows ends of tasks; null: from its start on."""

    apps: list[str]
    dsn: str | None
    migrates: bool
    is_first: bool
    since: str | None


Message = dict[str, Any]

# Exit codes of a child, besides those of every command.
WRONG_NAME = 2
BROKEN = 4
