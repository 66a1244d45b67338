"""What the two processes of ``catchment dev`` say to each other: JSON objects, one per line, over a socket.

The supervisor first sends an ``Order``, later ``{"stop": "finish"}`` or ``{"stop": "now"}``. The child sends
``{"files": […]}`` when it has read further ones, ``{"database": …}`` with its DSN, null for the embedded server,
``{"serves": true}`` when its worker is registered, and ``{"waiting": […]}``, the parents whose end it will not see.
When one of them is gone, the other reads the end of the stream.
"""

from __future__ import annotations

from typing import Any, TypedDict


class Order(TypedDict):
    """What a child shall run. ``waiting``: tasks whose end is shown when their children are done."""

    apps: list[str]
    dsn: str | None
    migrates: bool
    is_first: bool
    waiting: list[int]


Message = dict[str, Any]

# Exit codes of a child, besides those of every command.
WRONG_NAME = 2
BROKEN = 4
