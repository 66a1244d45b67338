"""Locks of the folder of the embedded server. They are files, so the kernel releases them when a process ends.

- ``START``: held by a client while it makes the data directory or starts the keeper, and by the keeper while it stops
  the server. So nobody begins to use a server that is about to stop.
- ``USE``: shared by every process that uses the server. The file says for how long the last of them wants it kept.
- ``KEEP``: held by the keeper from before it exists, because it inherits it, until the server has ended.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from catchment.store.data_directory import PREFIX

START = f"{PREFIX}start.lock"
USE = f"{PREFIX}use.lock"
KEEP = f"{PREFIX}keep.lock"
# Another process may be making the data directory, starting the server, or bringing its schema up to date.
LIMIT = timedelta(minutes=5)
PAUSE = timedelta(milliseconds=50)
# Stop the server as soon as nobody shares the lock, whatever sessions it has.
AT_ONCE = -1.0
DEFAULT_KEEP = 45.0

_WIDTH = 32


def open_lock(where: Path, name: str) -> int:
    return os.open(where / name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)


def try_alone(handle: int) -> bool:
    """Take the lock for this process alone, if no other process has it or a share of it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def share(handle: int) -> None:
    """Take a share of the lock. It waits for a process that has it alone, which is never for long."""
    fcntl.flock(handle, fcntl.LOCK_SH)


def release(handle: int) -> None:
    fcntl.flock(handle, fcntl.LOCK_UN)


@contextmanager
def locked(where: Path) -> Generator[int]:
    """Nobody else makes, starts or stops the server of this folder meanwhile."""
    handle = open_lock(where, START)
    try:
        deadline = time.monotonic() + LIMIT.total_seconds()
        while not try_alone(handle):
            if time.monotonic() > deadline:
                raise TimeoutError(f"another process has held {where / START} for {LIMIT.total_seconds():.0f} s")
            time.sleep(PAUSE.total_seconds())
        yield handle
    finally:
        _drop(handle)


def is_held(where: Path, name: str) -> bool:
    """Does a process hold this lock?"""
    handle = open_lock(where, name)
    try:
        return not try_alone(handle)
    finally:
        _drop(handle)


def _drop(handle: int) -> None:
    """Release and close: a process that was forked meanwhile has the file open too, and would keep the lock."""
    release(handle)
    os.close(handle)


def is_in_place(where: Path, name: str, handle: int) -> bool:
    """Is the file of this lock still in the folder? Not if the folder was removed, moved or replaced."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(where / name))
    except (FileNotFoundError, NotADirectoryError):
        return False


def write_keep(handle: int, seconds: float) -> None:
    """Say for how long the server is to be kept after its last use."""
    # One call of a fixed length: a reader never sees a part of it.
    os.pwrite(handle, f"{seconds:<{_WIDTH}}".encode(), 0)


def read_keep(handle: int) -> float:
    try:
        return float(os.pread(handle, _WIDTH, 0))
    except ValueError:
        return DEFAULT_KEEP
