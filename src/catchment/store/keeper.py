"""The keeper of an embedded server: a process that starts it, stays while it is used, and stops it some time later.

``python -m catchment.store.keeper FOLDER PROGRAMS LOCK`` is run by the first client, in a session without a terminal.
``LOCK`` is the descriptor of the lock ``KEEP``, which it inherits. Standard output is a pipe to that client: ``ready``,
or what went wrong.

The server is used while a process shares the lock ``USE``, or has a session. It is stopped when it has not been used
for the time that its last user wants, and at once when its folder has gone. When it ends by itself, so does the keeper:
clients that still use it start another one.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from types import FrameType

from catchment.store import data_directory, folder_locks, postmaster
from catchment.store.data_directory import Programs
from catchment.store.folder_locks import AT_ONCE, KEEP, START, USE
from catchment.store.postmaster import Postmaster

READY = "ready"
TRIES = 3
# How often it looks, until the server is ready and then.
START_TICK = timedelta(milliseconds=50)
TICK = timedelta(milliseconds=250)
# How often it asks for sessions while no process shares the lock.
SESSIONS_TICK = timedelta(seconds=5)
FAST = (signal.SIGINT, timedelta(seconds=30))
IMMEDIATE = (signal.SIGQUIT, timedelta(seconds=10))
KILL = (signal.SIGKILL, timedelta(seconds=10))


class Keeper:
    """Watches one server from before its start until after its end."""

    def __init__(self, where: Path, programs: Programs, lock: int) -> None:
        self._where = where
        self._programs = programs
        self._lock = lock
        self._use = folder_locks.open_lock(where, USE)
        self._start = folder_locks.open_lock(where, START)
        self._used = time.monotonic()
        self._asked = self._used
        self._is_ready = False

    def run(self) -> None:
        """Until the server has ended. Raises ``RuntimeError`` if it does before it is ready."""
        for remaining in reversed(range(TRIES)):
            self._check_in_place()
            size = data_directory.logged(self._where)
            server = self._begin()
            try:
                self._watch(server)
            finally:
                # A signal may have asked the keeper to end.
                server.end(FAST, IMMEDIATE, KILL)
            if self._is_ready:
                return
            self._check_in_place()
            if not remaining:
                raise RuntimeError(f"postgres ended: {data_directory.last_words(self._where, size)}")
            # A server that was killed may have left a process that has not ended yet.
            time.sleep(TICK.total_seconds())

    def _begin(self) -> Postmaster:
        """Start a server. One that runs already, after its keeper was killed, is adopted."""
        while (said := postmaster.read(self._where)) is not None and said.is_changing and self._is_in_place():
            time.sleep(START_TICK.total_seconds())  # it ends with its keeper
        adopted = Postmaster.adopt(self._where, said) if said is not None else None
        return adopted or Postmaster.launch(self._where, self._programs)

    def _watch(self, server: Postmaster) -> None:
        """Until the server has ended by itself, or is to be ended."""
        while server.is_alive():
            if not self._is_in_place():
                server.end(IMMEDIATE, KILL)
                return
            if self._is_stopping(server):
                return  # it was asked to; without help it would wait until all sessions have ended
            if not self._is_ready:
                self._is_ready = self._report_ready(server)
            if self._is_used():
                self._used = time.monotonic()
            elif self._is_over() and folder_locks.try_alone(self._start):
                # From here on no process can begin to use it. Has one done so just before?
                if self._is_used(is_last_look=True):
                    self._used = time.monotonic()
                    folder_locks.release(self._start)
                else:
                    return
            time.sleep((TICK if self._is_ready else START_TICK).total_seconds())

    def _is_stopping(self, server: Postmaster) -> bool:
        said = postmaster.read(self._where)
        return said is not None and said.pid == server.pid and said.status == "stopping"

    def _report_ready(self, server: Postmaster) -> bool:
        said = postmaster.read(self._where)
        if said is None or said.pid != server.pid or not said.answers():
            return False
        _report(READY)
        return True

    def _is_over(self) -> bool:
        return time.monotonic() - self._used >= folder_locks.read_keep(self._use)

    def _is_used(self, *, is_last_look: bool = False) -> bool:
        if not folder_locks.try_alone(self._use):
            return True
        folder_locks.release(self._use)
        if folder_locks.read_keep(self._use) == AT_ONCE:
            return False
        if not is_last_look and time.monotonic() - self._asked < SESSIONS_TICK.total_seconds():
            return False
        self._asked = time.monotonic()
        said = postmaster.read(self._where)
        return said is not None and said.answers() and postmaster.count_sessions(said.dsn, self._programs) > 0

    def _check_in_place(self) -> None:
        """Nothing is written to a folder that is being removed: it would be found not empty."""
        if not self._is_in_place():
            raise RuntimeError("the folder was removed")

    def _is_in_place(self) -> bool:
        with suppress(PermissionError):
            return (
                folder_locks.is_in_place(self._where, KEEP, self._lock)
                and (self._where / data_directory.VERSION).exists()
            )
        return True


def _report(text: str) -> None:
    """Tell the client that has started this process. Further reports go nowhere."""
    with suppress(OSError):
        os.write(1, f"{text}\n".encode(errors="replace"))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def _told(number: int, _: FrameType | None) -> None:
    sys.exit(128 + number)


def main() -> None:
    folder, programs, lock = sys.argv[1:]
    # The client waits for the first process alone, and has no child left.
    if os.fork():
        os._exit(0)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _told)
    try:
        Keeper(Path(folder), Programs(Path(programs), 0), int(lock)).run()
    except Exception as error:
        _report(str(error) or type(error).__name__)


if __name__ == "__main__":
    main()
