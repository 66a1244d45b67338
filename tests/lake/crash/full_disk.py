"""The app of the lake in a process that may write files of 300 kB at most: to a data file that is a full disk."""

from __future__ import annotations

import resource
import signal

from catchment.lake.tasks.app import app

__all__ = ["app"]

SIZE = 300_000

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (SIZE, SIZE))
