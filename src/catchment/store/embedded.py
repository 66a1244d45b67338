"""The embedded PostgreSQL: used when no DSN is given, so that nothing has to be installed first.

It has a data directory that the user may choose. A separate process, the keeper, starts it for the first client and
stops it some time after the last one has ended, however that did. This is the part of the clients; the locks by which
they and the keeper agree are in ``folder_locks``.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from catchment.errors import RequestRefused, ServerUnavailable
from catchment.store import data_directory, folder_locks
from catchment.store.data_directory import LOG, Programs
from catchment.store.folder_locks import AT_ONCE, DEFAULT_KEEP, KEEP, START, USE
from catchment.store.pinned import check_environment
from catchment.store.process_lock import ProcessLock
from catchment.store.slow_start import said_if_slow

DATA_VARIABLE = "CATCHMENT_DATA"
KEEP_VARIABLE = "CATCHMENT_KEEP_SECONDS"
STOP_LIMIT = timedelta(seconds=60)
PAUSE = timedelta(milliseconds=50)


class FolderGone(ServerUnavailable):
    """The folder of the default server was removed, moved or replaced while this process used it."""


@dataclass(frozen=True, slots=True)
class _Use:
    """What a process holds while it uses a server."""

    dsn: str
    lock: int
    pid: int
    is_default: bool


_uses: dict[Path, _Use] = {}
_guard = ProcessLock()


def default_folder() -> Path:
    """Where the embedded server keeps its data: ``$CATCHMENT_DATA``, or the user's data folder."""
    chosen = os.environ.get(DATA_VARIABLE)
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")) / "catchment" / "postgres"


def keep_seconds() -> float:
    """For how long the server stays after its last use: ``$CATCHMENT_KEEP_SECONDS``."""
    given = os.environ.get(KEEP_VARIABLE) or str(DEFAULT_KEEP)
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise RequestRefused(
            f"{KEEP_VARIABLE} is {given!r} in the environment, expected a number of seconds, 0 or more",
            hint=f"The embedded server stops that long after its last use. Unset it for {DEFAULT_KEEP:.0f} seconds.",
        )
    return seconds


def start(folder: Path | None = None) -> str:
    """Start the server of this folder, or join the one that runs there; returns its DSN. Threads may call it together.

    The folder is made if it does not exist. One that holds anything but a data directory is refused and left alone.
    This process uses the server until it ends, or calls ``stop``.
    """
    Programs.find()  # an extra
    check_environment()
    seconds = keep_seconds()
    where = _resolved(folder or default_folder())
    with _guard.held():
        if where not in _uses:
            with _explained(where):
                _uses[where] = _join(where, seconds, is_default=folder is None)
        return _uses[where].dsn


def stop(folder: Path) -> None:
    """This process no longer uses the server. It stops at once if no other process does."""
    where = _resolved(folder)
    is_last = False
    with _guard.held():
        use = _uses.get(where)
        # A forked child has the entry of its parent, who still uses the server.
        if use is None or use.pid != os.getpid():
            return
        del _uses[where]
        try:
            # The keeper looks after a server whose folder has gone, or cannot be written any more.
            with suppress(OSError), folder_locks.locked(where):
                is_last = folder_locks.is_in_place(where, USE, use.lock) and folder_locks.try_alone(use.lock)
                if is_last:
                    folder_locks.write_keep(use.lock, AT_ONCE)
        finally:
            os.close(use.lock)
        deadline = time.monotonic() + STOP_LIMIT.total_seconds()
        with suppress(OSError):
            while is_last and folder_locks.is_held(where, KEEP) and time.monotonic() < deadline:
                time.sleep(PAUSE.total_seconds())


def is_default(dsn: str) -> bool:
    """Is this the default server, and used by this process?"""
    return any(use.dsn == dsn and use.is_default for use in list(_uses.values()))


def revive(dsn: str) -> bool:
    """Start the default server again if it has ended although this process uses it: it may have been killed. Returns
    whether a connection is worth another try.

    Raises ``FolderGone`` if the folder was removed: it is not made again.
    """
    with _guard.held():
        where = next((where for where, use in _uses.items() if use.dsn == dsn and use.is_default), None)
        if where is None:
            return False
        with _explained(where):
            _check_in_place(where)
            try:
                with folder_locks.locked(where):
                    return _reach(where) == dsn
            except Exception:
                _check_in_place(where)  # it may be removed just now
                raise


def _check_in_place(where: Path) -> None:
    use = _uses[where].lock
    if not (folder_locks.is_in_place(where, USE, use) and (where / data_directory.VERSION).exists()):
        raise FolderGone(
            f"the folder of the embedded PostgreSQL was removed or replaced while it was in use: {where}",
            hint="Start the program again: it makes a new server there, which is empty.",
        )


@contextmanager
def alone() -> Generator[None]:
    """No other client of the default server is in such a block meanwhile."""
    with folder_locks.locked(_resolved(default_folder())):
        yield


def hand_on() -> None:
    """Let a program that replaces this process continue using the servers."""
    for use in _uses.values():
        os.set_inheritable(use.lock, True)


def _resolved(folder: Path) -> Path:
    try:
        return folder.expanduser().resolve()
    except (OSError, RuntimeError) as error:  # the current folder was removed, or there is no home
        raise ServerUnavailable(
            f"the folder of the embedded PostgreSQL, {folder}, cannot be found from here: {error}",
            hint=f"Set {DATA_VARIABLE} to an absolute path, or go to a folder that exists.",
        ) from error


@contextmanager
def _explained(where: Path) -> Generator[None]:
    """Every fault names the folder, and what to do."""
    try:
        yield
    except FolderGone:
        raise
    except Exception as error:
        log = f"See {where / LOG}. " if os.access(where / LOG, os.R_OK) else ""
        raise ServerUnavailable(
            f"the embedded PostgreSQL did not start in {where}: {_reason(where, error)}",
            hint=f"{log}Choose another folder with {DATA_VARIABLE}, or pass --dsn.",
        ) from error


def _reason(where: Path, error: Exception) -> str:
    if isinstance(error, PermissionError):
        with suppress(OSError, KeyError):
            return f"this user may not use the folder, which belongs to user {where.owner()}"
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


def _join(where: Path, seconds: float, *, is_default: bool) -> _Use:
    """Make the data directory and start the server if necessary, and take a share of the server."""
    if not str(where).isprintable():
        raise RuntimeError("the path has a character that cannot be printed")
    if where.exists() and not where.is_dir():
        raise RuntimeError("it is not a folder")
    where.mkdir(parents=True, exist_ok=True)
    data_directory.refuse_others(where, Programs.find(), unless=START)
    with ExitStack() as stack:
        with _said(f"Waiting for a process that starts the PostgreSQL server in {where} …", is_default):
            lock = stack.enter_context(folder_locks.locked(where))
        try:
            with _said(f"Creating a PostgreSQL server in {where} …", is_default):
                data_directory.ensure(where, Programs.find(), lock)
        except Exception:
            if not folder_locks.is_in_place(where, START, lock):
                raise RuntimeError("the folder was removed while the server was made in it") from None
            raise
        use = folder_locks.open_lock(where, USE)
        try:
            folder_locks.share(use)
            folder_locks.write_keep(use, seconds)
            with _said(f"Starting the PostgreSQL server in {where} …", is_default):
                return _Use(_reach(where), use, os.getpid(), is_default)
        except BaseException:
            os.close(use)
            raise


def _said(step: str, is_default: bool) -> AbstractContextManager[None]:
    """Those who start a server in a folder of theirs know what they wait for."""
    return said_if_slow(step) if is_default else nullcontext()


def _reach(where: Path) -> str:
    # With a module that comes with the server.
    from catchment.store.reach import reach

    return reach(where, Programs.find()).dsn
