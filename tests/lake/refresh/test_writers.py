"""Others write to the sources while tables are refreshed: nothing is lost and nothing counted twice."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.synchronize import Event
from typing import Any

import pytest

from catchment.errors import CommitConflict
from catchment.lake.duck.duck import Duck
from catchment.lake.duck.locks import commit_lock
from catchment.lake.files.sweep import sweep
from catchment.lake.refresh.audit import audit
from catchment.lake.refresh.window import ReadingBroken
from catchment.lake.settings import LakeSettings
from tests.fixtures.lake_case import SETTINGS, LakeCase

SUMS = (
    "CREATE DYNAMIC TABLE sums TARGET_LAG = '1 minute' REFRESH_MODE = INCREMENTAL AS"
    " SELECT a.k, sum(a.v) AS v, count(*) AS n FROM a GROUP BY a.k"
)
JOINED = (
    "CREATE DYNAMIC TABLE joined TARGET_LAG = '1 minute' REFRESH_MODE = INCREMENTAL AS"
    " SELECT b.g, max(a.v) AS most, count(*) AS n FROM a JOIN b USING (k) GROUP BY b.g"
)
REFRESHES = 4


def write(dsn: str, seed: int, use_lock: bool, ready: Any, stop: Event) -> None:
    """In a process of its own: insert, update and delete in both sources until told to stop."""
    duck = Duck.open(dsn, LakeSettings(**{**SETTINGS, "lake_threads": 1}))
    duck.set_retries(0 if use_lock else 60)
    rng = random.Random(seed)
    ready.wait()
    while not stop.is_set():
        table, k = rng.choice("ab"), rng.randrange(20)
        column = "v" if table == "a" else "g"
        statement = rng.choice(
            [
                f"INSERT INTO {table} VALUES ({k}, {rng.randrange(100)})",
                f"INSERT INTO {table} VALUES ({k}, {rng.randrange(100)})",
                f"UPDATE {table} SET {column} = {rng.randrange(100)} WHERE k = {k}",
                f"DELETE FROM {table} WHERE k = {k} AND {column} % 3 = 0",
            ]
        )
        with ExitStack() as held:
            if use_lock:
                held.enter_context(commit_lock(dsn))
            try:
                duck.run(statement)
            except CommitConflict:
                continue
        time.sleep(0.02)


@contextmanager
def writers(case: LakeCase) -> Iterator[None]:
    """Two tables over two sources, and two processes that write to these meanwhile. One takes the commit lock, the
    other does not: its deletes may be dated wrongly, which is noticed."""
    case.make("a", "k BIGINT, v BIGINT")
    case.make("b", "k BIGINT, g BIGINT")
    case.sql("INSERT INTO a SELECT i % 20, i FROM range(200) AS r(i)")
    case.sql("INSERT INTO b SELECT i % 20, i % 5 FROM range(40) AS r(i)")
    case.create(SUMS)
    case.create(JOINED)
    context = multiprocessing.get_context("spawn")
    ready, stop = context.Barrier(3), context.Event()
    started = [
        context.Process(target=write, args=(case.dsn, seed, use_lock, ready, stop), daemon=True)
        for seed, use_lock in ((1, True), (2, False))
    ]
    for writer in started:
        writer.start()
    ready.wait(60)
    start = case.head()
    try:
        yield
    finally:
        stop.set()
    for writer in started:
        writer.join(60)
        assert writer.exitcode == 0
    assert case.head() - start > REFRESHES, "nobody wrote"
    print(f"{case.head() - start} commits")


def is_its_definition(case: LakeCase, name: str) -> bool:
    """Compare a table with its definition at its data snapshot, while others write; fails if it is another. False: a
    delete was dated into that snapshot since, so that it cannot be read as the refresh has read it."""
    try:
        found = audit(case.duck, case.control, case.find(name))
    except ReadingBroken:
        return False
    assert found.is_equal, f"{name}: {found}"
    return True


def settle(case: LakeCase) -> None:
    """When nobody writes any more, one refresh of each table makes it right, whatever was seen before."""
    for name in ("sums", "joined"):
        case.refresh(name)
        case.check(name)
    assert case.sql("SELECT sum(v), sum(n) FROM sums") == case.sql("SELECT sum(v), count(*) FROM a")
    # A commit that was tried again has noted where it wrote.
    assert sweep(case.duck, case.control, case.settings) == 0
    assert case.leftovers() == {}
    assert case.temporary() == []


@pytest.mark.long
def test_refreshes_under_writers(lake_case: LakeCase) -> None:
    """Each table is its definition right after its refresh, before any other."""
    done, compared = Counter[str](), 0
    with writers(lake_case):
        for turn in range(REFRESHES):
            name = ("sums", "joined")[turn % 2]
            found = lake_case.refresh(name)
            done[f"{found['action']} {found['reason'] or ''}".strip()] += 1
            compared += is_its_definition(lake_case, name)
    print(f"refreshes: {dict(done)}, {compared} compared")
    assert compared > 0
    settle(lake_case)
