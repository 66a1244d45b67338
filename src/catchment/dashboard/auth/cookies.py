"""Names of cookies. Browsers send a cookie to every port of a host, and to all paths below its own: each dashboard has
its own names, so that a log-in at one does not end the session at another."""

from __future__ import annotations

import re

from starlette.requests import HTTPConnection

SESSION = "catchment_session"
VISIT = "catchment_visit"

_PORT = re.compile(r":(\d{1,5})$", re.ASCII)
_SIGNS = re.compile(r"[^A-Za-z0-9]+")


def cookie_name(kind: str, connection: HTTPConnection) -> str:
    """With the port that the browser asked for, if it says one, and the prefix: ``catchment_session_8400_jobs``."""
    port = _PORT.search(connection.headers.get("host", ""))
    prefix: str = connection.scope.get("root_path", "")
    parts = (kind, port[1] if port else "", _SIGNS.sub("_", prefix).strip("_"))
    return "_".join(part for part in parts if part)
