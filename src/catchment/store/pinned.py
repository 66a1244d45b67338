"""Keeps the PG… variables of the environment from leading connections to the embedded server elsewhere.

libpq reads them for everything that a DSN leaves open. So what it leaves open is given with each connection, not in
the DSN itself: other drivers would not understand it there.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from catchment.errors import RequestRefused
from catchment.store.data_directory import SOCKETS, VERSION

_PINNED = {
    "hostaddr": "",
    "sslmode": "disable",
    "sslrootcert": "",
    "gssencmode": "disable",
    "channel_binding": "prefer",
    "target_session_attrs": "any",
    "requirepeer": "",
}
# What no value in a DSN overrides in every version of libpq.
_REFUSED = ("PGSERVICE", "PGREQUIREAUTH", "PGSSLNEGOTIATION")


def check_environment() -> None:
    """Refuse variables that would change every connection to the embedded server."""
    name = next((name for name in _REFUSED if os.environ.get(name)), None)
    if name is None:
        return
    dsn = f"service={os.environ[name]}" if name == "PGSERVICE" else "…"
    raise RequestRefused(
        f"{name} is set in the environment, and no connection to the embedded server can be made with it",
        hint=f"To use that server, pass --dsn '{dsn}' or set CATCHMENT_DSN. For the embedded one, unset {name}.",
    )


def is_embedded(dsn: str) -> bool:
    """Does this DSN lead to the socket of an embedded server?"""
    folder = Path(str(conninfo_to_dict(dsn).get("host") or ""))
    return folder.is_absolute() and (folder.name.startswith(SOCKETS) or os.path.exists(folder / VERSION))


def pinned(dsn: str) -> str:
    """The DSN with what the environment could change, if it is that of an embedded server; else as it is."""
    if not is_embedded(dsn):
        return dsn
    given: dict[str, Any] = dict(conninfo_to_dict(dsn))
    return make_conninfo(**{**_PINNED, **given})
