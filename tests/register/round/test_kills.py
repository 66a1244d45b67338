"""Workers and servers are killed at any moment of rounds: after each, what is published is what the base tables say."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import psycopg
import pytest

import catchment_register
from catchment.store.migrate import migrate
from catchment_register.dates import read_open_ends
from tests.fixtures.register import fill_codes
from tests.fixtures.register_driver import Register
from tests.fixtures.restart import copied, prepared, restart
from tests.fixtures.worker import StartWorker, starting_workers, wait_until
from tests.register.day_oracle.compare import differences
from tests.register.holding import is_settled
from tests.register.random_edits import BEGINNING, VERBS, Edit
from tests.register.round.test_day_oracle import OURS, Clerk

KILLS = 50
EDITS = 4
MOST_TASKS = 16
"""About as many as a round of few edits has."""

DONE = "select count(*) from worker.tasks where queue = 'analytics' and state = 'completed'"
JOINED = "select exists (select from worker.worker where started_at > %s)"
WORKER = ("--queue", "analytics", "--concurrency", "analytics=2")


@contextmanager
def opened(dsn: str) -> Iterator[Register]:
    with psycopg.connect(dsn, autocommit=True) as conn:
        read_open_ends(conn)
        yield Register(conn)


@pytest.fixture
def crashing(tmp_path: Path) -> Iterator[tuple[str, Path, StartWorker]]:
    """A server with the register that a test may crash, and workers on it."""
    with (
        prepared(migrate, catchment_register.migrate, fill_codes) as ready,
        copied(ready) as (dsn, data),
        starting_workers(dsn, tmp_path) as start,
    ):
        yield dsn, data, start


def edit_some(clerk: Clerk, chance: Random) -> None:
    """Edits that commit one by one."""
    verbs = [verb for verb in (*VERBS, *OURS) if verb != "break_round"]
    done = 0
    while done < EDITS:
        done += clerk.apply(Edit(chance.choice(verbs), *(chance.randrange(n) for n in (8, 8, 37, 6))))


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_after_each_of_fifty_kills_the_tables_are_right(crashing: tuple[str, Path, StartWorker]) -> None:
    dsn, data, start = crashing
    seed = random.SystemRandom().randrange(10**9)
    print(f"seed {seed}")
    chance = Random(seed)
    with opened(dsn) as reg:
        clerk = Clerk(reg)
        for edit in BEGINNING:
            clerk.apply(edit)
    for number in range(KILLS):
        with opened(dsn) as reg:
            clerk.reg = reg
            edit_some(clerk, chance)
            enough = reg.value(DONE) + chance.randrange(MOST_TASKS)
            began, worker = reg.value("select worker.now()"), start(*WORKER)
            # One that finds no server when it begins says so and ends.
            wait_until(lambda reg=reg, began=began: reg.value(JOINED, began), seconds=120)
            wait_until(lambda reg=reg, enough=enough: reg.value(DONE) >= enough or is_settled(reg), seconds=120)
        if number % 2:
            restart(data, "immediate")
        else:
            worker.send_signal(signal.SIGKILL)
            worker.wait()
            worker = start(*WORKER)
        with opened(dsn) as reg:
            wait_until(lambda reg=reg: is_settled(reg), seconds=300)
            assert differences(reg.conn) == [], f"seed {seed}, kill {number}"
        worker.send_signal(signal.SIGKILL)
        worker.wait()
