"""Clients, workers, keepers and servers of the embedded default are killed at random: what was committed is there, and
nothing is left running."""

from __future__ import annotations

import os
import random
import signal
import subprocess

import pytest

from tests.fixtures.embedded import Own
from tests.fixtures.worker import wait_until

MODULE = """
import catchment

app = catchment.App(queue="counting")


@app.command(max_attempts=3)
async def count(n: int) -> None: ...
"""
CLIENT = """
import itertools, sys, time
from counting import count

for n in itertools.count():
    try:
        task_id = count.sync.enqueue(n=n).id
    except Exception as error:  # while there is no server
        print(repr(error), file=sys.stderr)
    else:
        print(task_id, flush=True)
    time.sleep(0.01)
"""
WORKER = ("-m", "catchment", "worker", "--app", "counting:app", "--log-level", "error")


class Killing:
    """A client and a worker that are started again whenever they were killed."""

    def __init__(self, own: Own, chance: random.Random) -> None:
        self._own = own
        self._chance = chance
        self._made = own.at / "made"
        self._made.touch()
        (own.at / "counting.py").write_text(MODULE)
        self._client = self._start_client()
        self._worker = own.start(*WORKER)

    def _start_client(self) -> subprocess.Popen[str]:
        return self._own.start("-c", CLIENT, output=self._made)

    def made(self) -> list[int]:
        """The tasks that the client was told to be there."""
        return [int(line) for line in self._made.read_text().splitlines(keepends=True) if line.endswith("\n")]

    def kill_one(self) -> None:
        """Kill one of the four, and wait until tasks are made again."""
        victim = self._chance.choice(["client", "worker", "keeper", "server"])
        pid = {
            "client": lambda: self._client.pid,
            "worker": lambda: self._worker.pid,
            "keeper": self._own.keeper,
            "server": self._own.server,
        }[victim]()
        if pid is not None:
            try:
                os.kill(pid, self._chance.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM]))
            except ProcessLookupError:
                return
        if victim == "client":
            self._client.wait()
            self._client = self._start_client()
        if self._worker.poll() is not None:
            self._worker = self._own.start(*WORKER)
        before = len(self.made())
        try:
            wait_until(lambda: len(self.made()) > before, seconds=120)
        except AssertionError:
            pytest.fail(f"after {victim}: {self._own.processes()} {(self._own.at / 'errors').read_text()[-3000:]}")

    def end(self) -> None:
        for process in (self._client, self._worker):
            process.kill()
            process.wait()


def _kill(own: Own, times: int, seed: int) -> None:
    killing = Killing(own, random.Random(seed))
    wait_until(killing.made, seconds=120)
    for _ in range(times):
        killing.kill_one()
    killing.end()
    wait_until(lambda: not own.processes())
    made = killing.made()
    (own.at / "copy").write_text("".join(f"{task_id}\n" for task_id in made))
    read = ("-c", "create temp table made (id bigint primary key)", "-c", "\\copy made from copy")
    lost = own.command("psql", "-Atq", *read, "-c", "select id from made except select id from worker.tasks")
    assert (lost.stdout, lost.returncode) == ("", 0), (lost.stderr, made)
    wait_until(lambda: not own.processes())


def test_five_kills_lose_nothing_and_leave_nothing(ready: Own) -> None:
    _kill(ready, 5, seed=1)


@pytest.mark.long
@pytest.mark.timeout(3000)
def test_two_hundred_kills_lose_nothing_and_leave_nothing(own: Own) -> None:
    _kill(own, 200, seed=2)
