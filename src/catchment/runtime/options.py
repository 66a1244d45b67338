"""What a worker process can be told."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """Settings of one worker process.

    ``queues`` empty means all, and queues made later are found. ``concurrency`` overrides the registry's number of
    fibers per queue. ``is_single`` refuses to start where another worker runs the top level of a serial queue.
    """

    queues: tuple[str, ...] = ()
    concurrency: Mapping[str, int] = field(default_factory=dict[str, int])
    is_single: bool = False
    stops_when_idle: bool = False
    name: str = field(default_factory=socket.gethostname)
    poll_interval: timedelta = timedelta(seconds=2)
    poll_interval_idle: timedelta = timedelta(seconds=30)
    poll_interval_deaf: timedelta = timedelta(milliseconds=100)
    lease: timedelta = timedelta(seconds=15)
    upkeep_interval: timedelta = timedelta(seconds=1)
    standby_interval: timedelta = timedelta(milliseconds=500)
    shutdown_grace: timedelta = timedelta(seconds=30)
    batch_size: int = 10
    batch_time: timedelta = timedelta(milliseconds=500)
