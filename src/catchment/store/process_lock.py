"""A lock for the threads of one process."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager


class ProcessLock:
    """A forked child finds it free: the thread of the parent that had it does not exist there. A thread may take it
    more than once."""

    def __init__(self) -> None:
        self._of = (os.getpid(), threading.RLock())

    @contextmanager
    def held(self) -> Generator[None]:
        pid, lock = self._of
        if pid != os.getpid():
            lock = threading.RLock()
            self._of = (os.getpid(), lock)
        with lock:
            yield
