"""Diamonds over a source that is written all the time, by a writer that never takes the commit lock and that others
overtake. Every version of the table at the end of a diamond is one moment of the source; the writer keeps a list.
"""

from __future__ import annotations

import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from typing import Any

import pytest

from catchment.errors import CommitConflict
from catchment.lake.duck.duck import Duck
from catchment.lake.settings import LakeSettings
from tests.fixtures.lake_case import SETTINGS, LakeCase
from tests.fixtures.often import often

ROWS, KEYS = 300, 3
ROUNDS = 3
LAG = "TARGET_LAG = '1 hour'"
DIAMOND = {
    "a": "SELECT k, v FROM orders WHERE v >= 0",
    "b": "SELECT k, count(*) AS n, sum(v) AS v FROM orders GROUP BY k",
    "c": "SELECT k, count(*) AS n, sum(v) AS v FROM {a} GROUP BY k",
    "d": "SELECT coalesce(b.k, c.k) AS k, b.n AS bn, b.v AS bv, c.n AS cn, c.v AS cv"
    " FROM {b} AS b FULL JOIN {c} AS c ON b.k = c.k",
}

Moment = tuple[tuple[int, int, int], ...]
"""Of each k the number of its rows and their sum."""


def moment_of(rows: dict[int, tuple[int, int]]) -> Moment:
    counts, sums = Counter[int](), Counter[int]()
    for k, v in rows.values():
        counts[k] += 1
        sums[k] += v
    return tuple((k, counts[k], sums[k]) for k in sorted(counts))


def write(dsn: str, seed: int, ready: Any, stop: Event, asked: Any, overtaken: Any, said: Connection) -> None:
    """In a separate process, the only one that writes ``orders``: one to three changes in each transaction, until it is
    stopped; then send all moments that there were."""
    duck = Duck.open(dsn, LakeSettings(**{**SETTINGS, "lake_threads": 1}))
    rng, rows = random.Random(seed), {i: (i % KEYS, 1) for i in range(1, ROWS)}
    moments, next_id = {moment_of(rows)}, ROWS
    ready.wait()
    while not stop.is_set():
        after = dict(rows)
        try:
            with duck.transaction():
                for _ in range(rng.randint(1, 3)):
                    chosen = rng.sample(sorted(after), 5)
                    listed = ", ".join(map(str, chosen))
                    kind = rng.choice(["delete", "update", "insert"]) if len(after) > ROWS // 2 else "insert"
                    if kind == "delete":
                        duck.run(f"DELETE FROM orders WHERE id IN ({listed})")
                        after = {i: row for i, row in after.items() if i not in chosen}
                    elif kind == "update":
                        duck.run(f"UPDATE orders SET v = v + 1 WHERE id IN ({listed})")
                        after |= {i: (after[i][0], after[i][1] + 1) for i in chosen}
                    else:
                        new = {next_id + i: (rng.randrange(KEYS), rng.randrange(100)) for i in range(5)}
                        next_id += 5
                        values = ", ".join(f"({i}, {k}, {v})" for i, (k, v) in new.items())
                        duck.run(f"INSERT INTO orders VALUES {values}")
                        after |= new
                # One commit overtakes each transaction. More would leave the writer hardly a turn.
                asked.release()
                assert overtaken.acquire(timeout=120)
                # A round that begins now reads a snapshot that this commit is dated into.
                time.sleep(rng.uniform(0, 0.2))
        except CommitConflict:
            continue
        rows = after
        moments.add(moment_of(rows))
    said.send(moments)
    duck.close()


def overtake(dsn: str, ready: Any, stop: Event, asked: Any, overtaken: Any) -> None:
    """In a separate process: commit elsewhere whenever the writer asks for it."""
    duck = Duck.open(dsn, LakeSettings(**{**SETTINGS, "lake_threads": 1}))
    ready.wait()
    while not stop.is_set():
        if asked.acquire(timeout=0.1):
            duck.run("INSERT INTO other VALUES (1)")
            overtaken.release()
    duck.close()


@contextmanager
def written(case: LakeCase, seed: int) -> Iterator[Callable[[], set[Moment]]]:
    """The source is written meanwhile. What is yielded stops that, and returns all moments of ``orders``."""
    context = multiprocessing.get_context("spawn")
    ready, stop = context.Barrier(3), context.Event()
    asked, overtaken = context.Semaphore(0), context.Semaphore(0)
    hearing, saying = context.Pipe(duplex=False)
    ended = context.Event()
    started = [
        context.Process(target=write, args=(case.dsn, seed, ready, stop, asked, overtaken, saying), daemon=True),
        # To the end of the writer, which may wait for it.
        context.Process(target=overtake, args=(case.dsn, ready, ended, asked, overtaken), daemon=True),
    ]
    for process in started:
        process.start()

    def stopped() -> set[Moment]:
        stop.set()
        assert hearing.poll(120), "the writer has ended"
        moments = hearing.recv()
        ended.set()
        for process in started:
            process.join(60)
            assert process.exitcode == 0
        return moments

    ready.wait(120)
    try:
        yield stopped
    finally:
        stop.set()
        ended.set()


def prepare(case: LakeCase, diamonds: int) -> list[str]:
    """Returns the tables at the ends of the diamonds."""
    case.make("other", "i BIGINT")
    case.make("orders", "id BIGINT, k BIGINT, v BIGINT")
    case.sql(f"INSERT INTO orders SELECT i, i % {KEYS}, 1 FROM range({ROWS}) AS r(i)")
    # Only in a file with deleted rows another delete may be dated early.
    case.sql("DELETE FROM orders WHERE id = 0")
    for number in range(1, diamonds + 1):
        names = {name: f"{name}{number}" for name in DIAMOND}
        for name, query in DIAMOND.items():
            case.create(f"CREATE DYNAMIC TABLE {names[name]} {LAG} AS {query.format(**names)}")
    return [f"d{number}" for number in range(1, diamonds + 1)]


def refresh_together(case: LakeCase, tables: list[str]) -> None:
    """One round of all of them, and the rounds that continue in its place."""
    round_id = case.control.request_round([case.find(name) for name in tables])
    ((refresh_id,),) = case.pg("select min(id) from lake.refresh where round_id = %s", round_id)
    assert case.finish_round(refresh_id)["state"] == "SUCCEEDED"


def compare(case: LakeCase, name: str, moments: set[Moment]) -> int:
    """Hold every version of a table against the moments; returns how many there were."""
    versions = case.pg(
        "select commit_snapshot from lake.refresh where dt_id = %s and commit_snapshot is not null order by id",
        case.find(name),
    )
    for (snapshot,) in versions:
        rows = case.sql(f"SELECT k, bn, bv, cn, cv FROM {name} AT (VERSION => {snapshot}) ORDER BY k")
        left = tuple((k, n, int(v)) for k, n, v, _, _ in rows)
        assert left == tuple((k, n, int(v)) for k, _, _, n, v in rows), (
            f"{name} at {snapshot} is of two moments: {rows}"
        )
        assert left in moments, f"{name} at {snapshot} is of no moment: {rows}"
    return len(versions)


def run(case: LakeCase, diamonds: int, seed: int, is_over: Callable[[int], bool]) -> int:
    """Returns how many rounds were moved: so often a commit was dated into one."""
    tables, rounds = prepare(case, diamonds), 0
    with written(case, seed) as stopped:
        while not is_over(rounds):
            refresh_together(case, tables)
            rounds += 1
        moments = stopped()
    counted = [compare(case, name, moments) for name in tables]
    ((moved,),) = case.pg("select count(*) from lake.round where moved_from is not null")
    print(f"seed {seed}: {rounds} rounds, {moved} moved, {sum(counted)} versions, {len(moments)} moments")
    assert len(moments) > 1
    assert all(count > 1 for count in counted)
    refresh_together(case, tables)
    for name in tables:
        case.check(name)
    return moved


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("diamonds", often(1, now_and_then=[2]))
def test_every_version_is_one_moment_whichever_client_writes(lake_case: LakeCase, diamonds: int) -> None:
    run(lake_case, diamonds, 1, lambda rounds: rounds >= ROUNDS)


@pytest.mark.long
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("diamonds", [1, 2])
def test_every_version_is_one_moment_for_ten_minutes(lake_case: LakeCase, diamonds: int) -> None:
    seed, ends = random.randrange(2**32), time.monotonic() + 600
    print(f"seed {seed}")
    moved = run(lake_case, diamonds, seed, lambda _: time.monotonic() >= ends)
    assert moved > 0, "no commit was dated into a round: nothing was tried"
