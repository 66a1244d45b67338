"""Which files an app is made of, and whether they have changed since they were read."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
import sysconfig
import traceback
from collections.abc import Iterable
from pathlib import Path

import catchment

Stamp = tuple[int, int, int]
_LIBRARIES = ("stdlib", "platstdlib", "purelib", "platlib")


def own_files(modules: Iterable[str] = (), error: BaseException | None = None) -> list[str]:
    """The source files of all modules that are imported, except for those of Python, of installed packages and of
    Catchment. Further those of ``modules`` and of the lines that an error came through, also if their import failed."""
    paths = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    paths |= {_origin(name) for name in modules}
    while error is not None:
        paths |= {frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)}
        paths.add(error.filename if isinstance(error, SyntaxError) else None)
        error = error.__cause__
    return sorted({os.path.abspath(path) for path in paths if path is not None and _is_own(path)})


def _origin(name: str) -> str | None:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, AttributeError, ValueError, SyntaxError):
        parent = name.rpartition(".")[0]
        return _origin(parent) if parent else None
    return None if spec is None else spec.origin


def _is_own(path: str) -> bool:
    if not path.endswith(tuple(importlib.machinery.SOURCE_SUFFIXES)):
        return False
    here = os.path.abspath(path)
    others = [str(Path(catchment.__file__).parent), *(sysconfig.get_path(kind) for kind in _LIBRARIES)]
    return not here.startswith(tuple(f"{other}{os.sep}" for other in others)) and "site-packages" not in here


class Watch:
    """Compares files with what they were when a process began to read them."""

    def __init__(self) -> None:
        self._stamps: dict[str, Stamp | None] = {}
        self._since = 0
        # Files that were written while they were read, and reported once: a time in the future would be so each time.
        self._late: set[tuple[str, Stamp]] = set()

    def begin(self, since: int) -> None:
        """A process begins to read the files, at this time in nanoseconds."""
        self._since = since
        self._stamps = {path: _stamp(path) for path in self._stamps}

    def add(self, paths: Iterable[str]) -> None:
        """The process has read these files."""
        for path in paths:
            if path not in self._stamps:
                stamp = _stamp(path)
                self._stamps[path] = None if stamp is not None and self._is_late(path, stamp) else stamp

    def changed(self) -> list[str]:
        """The files that are not as they were read."""
        return [path for path, stamp in self._stamps.items() if _stamp(path) != stamp]

    def added(self) -> list[str]:
        """New files beside these, and in the current folder: a module that was missing may be there now."""
        folders = {os.path.dirname(path) for path in self._stamps} | {os.curdir}
        paths = {os.path.abspath(path) for folder in folders for path in Path(folder).glob("*.py")}
        return [
            path
            for path in sorted(paths - self._stamps.keys())
            if (stamp := _stamp(path)) is not None and self._is_late(path, stamp)
        ]

    def _is_late(self, path: str, stamp: Stamp) -> bool:
        if stamp[0] <= self._since or (path, stamp) in self._late:
            return False
        self._late.add((path, stamp))
        return True


def _stamp(path: str) -> Stamp | None:
    """What differs after a change, by whatever program; None if the file is not there."""
    try:
        state = os.stat(path)
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size, state.st_ino
