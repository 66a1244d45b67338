"""The embedded PostgreSQL: used when no DSN is given, so that nothing has to be installed first.

It has a data directory that the user may choose, and stops when the last process that uses it ends. Two locks in that
directory say what goes on: who holds the first one makes, starts or stops the server, and every process that uses the
server shares the second one. The kernel releases both when a process dies, however it does.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import platformdirs

from catchment.errors import ServerUnavailable
from catchment.store import data_directory
from catchment.store.data_directory import PREFIX, Programs, is_plain

DATA_VARIABLE = "CATCHMENT_DATA"
START_TRIES = 3
# A busy machine needs long for it, and so does recovery after a crash.
START_LIMIT = timedelta(seconds=60)
# Another process may be making the data directory and starting the server.
LOCK_LIMIT = timedelta(minutes=5)
PAUSE = timedelta(milliseconds=100)

_START_LOCK = f"{PREFIX}start.lock"
_USE_LOCK = f"{PREFIX}use.lock"
# The name by which a server is recognized as one that this module has started.
_MARK = "cluster_name=catchment"
_SOCKETS = "catchment-sockets-"


@dataclass(frozen=True, slots=True)
class _Use:
    """What a process holds while it uses a server."""

    dsn: str
    lock: int
    pid: int


_uses: dict[Path, _Use] = {}
_guard = threading.Lock()


def default_folder() -> Path:
    """Where the embedded server keeps its data: ``$CATCHMENT_DATA``, or the user's data folder."""
    chosen = os.environ.get(DATA_VARIABLE)
    return Path(chosen) if chosen else Path(platformdirs.user_data_dir("catchment")) / "postgres"


def start(folder: Path | None = None, *, stop_at_exit: bool = True) -> str:
    """Start the server of this folder, or join the one that runs there; returns its DSN. Threads may call it together.

    The folder is made if it does not exist. One that holds anything but a data directory is refused and left alone.
    """
    where = (folder or default_folder()).expanduser().resolve()
    with _guard:
        if where not in _uses:
            try:
                _uses[where] = _join(where)
            except Exception as error:
                log = f"See {where / 'log'}. " if (where / "log").is_file() else ""
                raise ServerUnavailable(
                    f"the embedded PostgreSQL did not start in {where}: {error}",
                    hint=f"{log}Choose another folder with {DATA_VARIABLE}, or pass --dsn.",
                ) from error
            if stop_at_exit:
                atexit.register(stop, where)
        return _uses[where].dsn


def stop(folder: Path) -> None:
    """This process no longer uses the server; it stops if no other process does."""
    where = folder.expanduser().resolve()
    with _guard:
        use = _uses.get(where)
        # A forked child has the entry of its parent, who still uses the server.
        if use is None or use.pid != os.getpid():
            return
        del _uses[where]
        try:
            # At the end of a process nobody can act on a fault. The next process that uses the folder stops it.
            with suppress(OSError, RuntimeError), _locked(where):
                if _is_alone(where, use.lock):
                    _stop(where)
        finally:
            os.close(use.lock)


def _join(where: Path) -> _Use:
    """Make the data directory and start the server if necessary, and take a share of the server."""
    if not str(where).isprintable():
        raise RuntimeError("the path has a character that cannot be printed")
    where.mkdir(parents=True, exist_ok=True)
    data_directory.refuse_others(where, unless=_START_LOCK)
    programs = Programs.find()
    with _locked(where) as lock:
        data_directory.ensure(where, programs, lock)
        server = _run(where, programs)
        use = os.open(where / _USE_LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        fcntl.flock(use, fcntl.LOCK_SH)
    return _Use(server.dsn, use, os.getpid())


@contextmanager
def _locked(where: Path) -> Generator[int]:
    """Nobody else makes, starts or stops the server of this folder meanwhile."""
    handle = os.open(where / _START_LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        deadline = time.monotonic() + LOCK_LIMIT.total_seconds()
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise TimeoutError(f"another process has had {where / _START_LOCK} for too long") from None
            time.sleep(PAUSE.total_seconds())
        yield handle
    finally:
        os.close(handle)


def _is_alone(where: Path, lock: int) -> bool:
    """Does no other process use the server of this folder? Only under the other lock: the share is lost."""
    if not os.path.samestat(os.fstat(lock), os.stat(where / _USE_LOCK)):
        return False  # the folder is another one by now
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class _Server:
    """What a server says about itself in its folder. It may have died since."""

    pid: int
    status: str
    sockets: str = ""
    port: str = ""

    @property
    def dsn(self) -> str:
        return f"postgresql://postgres:@/postgres?host={quote(self.sockets)}&port={self.port}"

    @property
    def is_changing(self) -> bool:
        """Is it starting or stopping? A server that died in that state is not."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return self.status in ("starting", "stopping")

    def answers(self) -> bool:
        """Is it ready? The process may be another one that has the same number by now, so its socket is asked."""
        if self.status != "ready":
            return False
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(START_LIMIT.total_seconds())
            try:
                client.connect(f"{self.sockets}/.s.PGSQL.{self.port}")
            except OSError:
                return False
        return True


def _read(where: Path) -> _Server | None:
    try:
        lines = [line.strip() for line in (where / "postmaster.pid").read_text().splitlines()]
    except FileNotFoundError:
        return None
    if not lines or not lines[0].isdigit():
        return None
    if len(lines) < 8:
        return _Server(int(lines[0]), "starting")
    return _Server(int(lines[0]), status=lines[7], sockets=lines[4], port=lines[3])


def _run(where: Path, programs: Programs) -> _Server:
    """Start the server, or wait until the one that was started by another process is ready."""
    deadline = time.monotonic() + START_LIMIT.total_seconds()
    faults = 0
    while True:
        server = _read(where)
        if server is not None and server.answers():
            return server
        if time.monotonic() > deadline:
            raise TimeoutError(f"it is not ready after {START_LIMIT.total_seconds():.0f} s")
        if server is None or not server.is_changing:
            try:
                _launch(where, programs)
                continue
            except RuntimeError:
                # One that a killed process has left behind may be starting at the same moment.
                faults += 1
                if faults == START_TRIES:
                    raise
        time.sleep(PAUSE.total_seconds())


def _launch(where: Path, programs: Programs) -> None:
    # pg_ctl hands the folder and the options to a shell, and clients get the socket's folder in a DSN. A folder with a
    # name that either could misread is called by no name, and the socket is put elsewhere.
    here = str(where) if is_plain(where) else "."
    fits = data_directory.can_have_socket(where)
    sockets = where if fits else data_directory.make_elsewhere(_SOCKETS, owner=where)
    seconds = f"{START_LIMIT.total_seconds():.0f}"
    options = f'-h "" -k {sockets} -p 5432 -c {_MARK}'
    try:
        programs.run(where, "pg_ctl", "-w", "-t", seconds, "-D", here, "-l", f"{here}/log", "-o", options, "start")
    except RuntimeError:
        _remove_sockets(where, str(sockets))
        raise


def _stop(where: Path) -> None:
    """Stop the server of this folder, unless another program has started it."""
    server = _read(where)
    if server is None or not server.answers() or _MARK not in (where / "postmaster.opts").read_text():
        return
    # Not by its path: the server's user may no longer be able to enter a folder above.
    Programs.find().run(where, "pg_ctl", "-w", "-m", "fast", "-D", ".", "stop")
    _remove_sockets(where, server.sockets)


def _remove_sockets(where: Path, sockets: str) -> None:
    if Path(sockets) != where and Path(sockets).name.startswith(_SOCKETS):
        with suppress(OSError):  # not empty
            os.rmdir(sockets)
