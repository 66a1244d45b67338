"""A worker that is asked to stop ends in time, also when its log is not read."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from catchment.runtime.signals import EXIT_CODE
from tests.fixtures.spare import spare
from tests.fixtures.worker import wait_until
from tests.worker.app import step
from tests.worker.crew import APP, Crew

TALKATIVE = """
import asyncio, logging
from datetime import timedelta
from catchment.runtime.events import Events
from catchment.runtime.signals import stop_on_signals

async def main():
    logging.basicConfig(level="INFO")
    events = Events()
    stop_on_signals(lambda: None, events, grace=timedelta(seconds=0.1), margin=timedelta(seconds=0.1))
    while True:
        events.emit("noise", "x" * 1000)

asyncio.run(main())
"""
SILENT = """
import sys
from catchment.runtime.signals import end_process

end_process(0, lambda: sys.stderr.write("x" * 1000000))
"""


@pytest.fixture
def unread() -> Iterator[int]:
    """The writing end of a pipe that nobody reads."""
    reads, writes = os.pipe()
    yield writes
    os.close(reads)
    os.close(writes)


def _is_full(pipe: int) -> bool:
    poll = select.poll()
    poll.register(pipe, select.POLLOUT)
    return not poll.poll(0)


def test_a_process_whose_log_nobody_reads_is_ended_in_time(unread: int) -> None:
    with subprocess.Popen([sys.executable, "-c", TALKATIVE], stderr=unread) as process:
        wait_until(lambda: _is_full(unread))
        process.send_signal(signal.SIGTERM)
        try:
            assert process.wait(timeout=60) == EXIT_CODE
        finally:
            process.kill()


def test_the_end_of_a_process_does_not_wait_for_its_log(unread: int) -> None:
    assert subprocess.run([sys.executable, "-c", SILENT], stderr=unread, timeout=60, check=False).returncode == 0


@pytest.mark.long
def test_a_worker_whose_log_nobody_reads_ends_at_sigterm(crew: Crew, unread: int) -> None:
    environment = {**os.environ, "CATCHMENT_DSN": crew.client.dsn, "CATCHMENT_SHUTDOWN_GRACE_SECONDS": "0.5"}
    environment["PROBE_FOLDER"] = str(crew.records.folder)
    crew.enqueue_many(step, [{"filler": "x"}] * 3_000, by_key=False)
    worker = spare().start("worker", "--app", APP, environment=environment, out=unread, err=unread)
    try:
        wait_until(lambda: _is_full(unread))
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(timeout=60) == EXIT_CODE
    finally:
        worker.kill()
