"""The options of a worker process."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

SHORTEST_CALL = timedelta(seconds=5)
# A lease may be long; what a call may take, and how late a cancel may be noticed, is not.
LONGEST_CALL = timedelta(seconds=30)
LONGEST_WATCH = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """Settings of one worker process.

    ``queues`` empty means all, and queues made later are found. ``concurrency`` overrides the registry's number of
    fibers per queue. ``is_single`` refuses to start where another worker runs the top level of a serial queue.
    ``max_concurrent_tasks``, ``claim_ahead`` and ``claim_batch_size`` concern Python handlers. ``poll_interval`` is the
    rhythm of looking for work while no notification can arrive, else ``idle_poll`` is: heartbeats, three in each
    ``lease``, find what a lost notification has left.
    ``metrics_port`` is where Prometheus finds the counters, ``health_port`` where /healthz and /readyz answer: None for
    nowhere, 0 for any port that is free.
    """

    queues: tuple[str, ...] = ()
    concurrency: Mapping[str, int] = field(default_factory=dict[str, int])
    is_single: bool = False
    max_concurrent_tasks: int = 1000
    claim_batch_size: int = 50
    claim_ahead: int = 0
    threads: int = 32
    give_back: timedelta = timedelta(seconds=10)
    stop_grace: timedelta = timedelta(seconds=10)
    max_result_bytes: int = 16 * 1024 * 1024
    hook_limit: timedelta = timedelta(seconds=30)
    transactions: int = 4
    transaction_limit: timedelta = timedelta(seconds=30)
    processes: int = field(default_factory=lambda: os.cpu_count() or 1)
    latency_threshold: timedelta = timedelta(seconds=30)
    has_wake_ups: bool = True
    has_session_lock: bool = True
    patience: timedelta = timedelta(seconds=5)
    stall_limit: timedelta = timedelta(minutes=5)
    stops_when_idle: bool = False
    name: str = field(default_factory=socket.gethostname)
    idle_poll: timedelta = timedelta(minutes=10)
    poll_interval: timedelta = timedelta(milliseconds=100)
    lease: timedelta = timedelta(seconds=15)
    upkeep_interval: timedelta = timedelta(seconds=1)
    standby_interval: timedelta = timedelta(milliseconds=500)
    shutdown_grace: timedelta = timedelta(seconds=30)
    batch_size: int = 100
    batch_time: timedelta = timedelta(milliseconds=500)
    metrics_port: int | None = None
    metrics_host: str = "127.0.0.1"
    health_port: int | None = None
    health_host: str = "127.0.0.1"

    @property
    def call_timeout(self) -> timedelta:
        """How long a call to the database may take before its connection counts as lost."""
        return min(max(self.lease, SHORTEST_CALL), LONGEST_CALL)

    @property
    def watch_interval(self) -> timedelta:
        """How often a worker that holds tasks compares them with the database."""
        return min(self.lease / 3, LONGEST_WATCH)
