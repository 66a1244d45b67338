"""Folders where DuckDB writes what does not fit into memory.

Each instance has one of its own: two that share a folder would write the same files. A file lock tells whether the
owner still lives, whatever container it runs in; what others have left behind is removed when the next one is made.
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


def make_folder(base: str) -> str:
    """A new folder for one instance of this process; it goes when the process ends."""
    os.makedirs(base, exist_ok=True)
    sweep(base)
    made = _locked_folder(base)
    while not made.exists():
        made = _locked_folder(base)
    atexit.register(_remove, made, os.getpid())
    # DuckDB makes this one when it needs it.
    return str(made / "duckdb")


def _locked_folder(base: str) -> Path:
    """A folder whose lock is held until the process ends, however it does. It may be gone at once: a sweep that came
    between the two steps took it for abandoned."""
    made = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
    fcntl.flock(os.open(made / _LOCK, os.O_CREAT | os.O_RDWR, 0o600), fcntl.LOCK_EX)
    return made


def sweep(base: str) -> int:
    """Remove the folders of processes that are gone; returns how many."""
    removed = 0
    for folder in Path(base).glob(f"{PREFIX}*"):
        try:
            handle = os.open(folder / _LOCK, os.O_RDWR)
        except OSError:
            # Being made or removed by somebody, or not ours to touch.
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


def _remove(folder: Path, pid: int) -> None:
    # A forked child inherits the call, not the folder.
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)
