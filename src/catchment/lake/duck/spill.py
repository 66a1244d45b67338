"""Folders where DuckDB writes what does not fit into memory.

Each instance has its own folder: two that share one would write the same files. A file lock shows whether the owner is
still alive, whatever container it runs in; leftovers of dead owners are removed when the next folder is made.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "catchment-spill-"
_LOCK = "lock"


class SpillFolder:
    """The folder of one instance of this process. ``path`` is what DuckDB gets."""

    def __init__(self, made: Path, lock: int) -> None:
        self._made = made
        self._lock: int | None = lock
        self._pid = os.getpid()
        # DuckDB makes this one when it needs it.
        self.path = str(made / "duckdb")
        atexit.register(self.remove)

    def remove(self) -> None:
        """Remove it, once its instance is closed; else it goes when the process ends."""
        # A forked child inherits the call, not the folder.
        if self._lock is None or os.getpid() != self._pid:
            return
        atexit.unregister(self.remove)
        shutil.rmtree(self._made, ignore_errors=True)
        os.close(self._lock)
        self._lock = None


def make_folder(base: str | None) -> SpillFolder:
    """A new folder within ``base``, or the system's folder for temporary files."""
    base = base or tempfile.gettempdir()
    os.makedirs(base, exist_ok=True)
    sweep(base)
    while True:
        made, lock = _locked_folder(base)
        if made.exists():
            return SpillFolder(made, lock)
        os.close(lock)


def _locked_folder(base: str) -> tuple[Path, int]:
    """A folder whose lock is held until the process ends, however it does. It may be gone at once: a sweep that came
    between the two steps took it for abandoned."""
    made = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
    lock = os.open(made / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return made, lock


def sweep(base: str) -> int:
    """Remove the folders of processes that are gone; returns how many."""
    removed = 0
    for folder in Path(base).glob(f"{PREFIX}*"):
        try:
            handle = os.open(folder / _LOCK, os.O_RDWR)
        except OSError:
            # Another process is creating or removing it, or it is not ours to touch.
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue
        else:
            shutil.rmtree(folder, ignore_errors=True)
            removed += 1
        finally:
            os.close(handle)
    return removed
