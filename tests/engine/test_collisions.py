"""Every pair of verbs meets on the same small trees and lanes: nobody deadlocks, and the rules hold afterwards."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations_with_replacement
from typing import Any

import pytest
from psycopg import Connection, Error

from tests.engine.verbs import VERBS
from tests.engine.world import COLLISION_TIME, World, prepare
from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect

# What a verb may answer when the other came first.
REFUSALS = {"CM001", "CM005", "CM007", "CM008", "CM009", "CM011", "CM017", "CM021", "CM022", "CM026", "CM027"}
LIMITS = "set lock_timeout = '10s'; set deadlock_timeout = '100ms'"
MEETINGS_PER_WORLD = 4

# These reach for each other's rows from two ends, so they meet more often.
CLOSE_PAIRS = [
    ("cancel_running", "complete"),
    ("complete_crosswise", "cancel_both_trees"),
    ("complete_batch", "unregister"),
    ("retry_scope", "admit_arrivals"),
    ("cancel_arrived", "admit_arrivals"),
    ("retry_scope", "clean_up"),
    ("complete_and_go_on", "put_off_in_lane"),
    ("complete_and_go_on", "claim"),
    ("skip_halted", "retry_halted"),
    ("complete_limited", "claim_limited"),
    ("complete_limited", "enqueue_to_gate"),
    ("put_off_child", "complete_batch"),
    ("expire_deadlines", "complete_crosswise"),
    ("process_sql", "cancel_sql"),
    ("process_sql", "process_sql_children"),
]


class Collider:
    """Two connections in two threads."""

    def __init__(self, conns: list[Connection[Any]], pool: ThreadPoolExecutor) -> None:
        self.conns, self.pool = conns, pool
        self.barrier = threading.Barrier(2)

    def meet(self, world: World, names: tuple[str, str]) -> None:
        futures = [self.pool.submit(self._run, world, side, name) for side, name in enumerate(names)]
        for name, future in zip(names, futures, strict=True):
            error = future.exception(timeout=60)
            if isinstance(error, Error) and error.sqlstate in REFUSALS:
                continue
            assert error is None, f"{name} of {names}: {error!r}"

    def _run(self, world: World, side: int, name: str) -> None:
        self.barrier.wait(timeout=30)
        VERBS[name](self.conns[side], world, side)


@pytest.fixture
def world(committed: Engine) -> World:
    prepare(committed)
    world = World(committed.conn)
    committed.check()
    return world


@pytest.fixture
def collider(world: World, connect: Connect) -> Iterator[Collider]:
    conns = [connect(), connect()]
    for conn in conns:
        conn.execute(LIMITS)
        conn.execute("select set_config('worker.now', %s, false)", [COLLISION_TIME])
    with ThreadPoolExecutor(2) as pool:
        yield Collider(conns, pool)


def meet_in_turn(world: World, collider: Collider, pairs: list[tuple[str, str]]) -> None:
    """These pairs one after the other in the world as it was at first."""
    world.restore()
    for names in pairs:
        collider.meet(world, names)
        problems = world.conn.execute("select * from worker.check_invariants()").fetchall()
        assert problems == [], f"after {names} of {pairs}"
        world.forget_ended_claims()


def meet_all(world: World, collider: Collider, seed: int, one_in: int = 1) -> None:
    """Every pair of verbs, or one in so many of them, several in one world."""
    chance = random.Random(seed)
    pairs = [(a, b) if chance.random() < 0.5 else (b, a) for a, b in combinations_with_replacement(sorted(VERBS), 2)]
    chance.shuffle(pairs)
    pairs = pairs[::one_in]
    for start in range(0, len(pairs), MEETINGS_PER_WORLD):
        meet_in_turn(world, collider, pairs[start : start + MEETINGS_PER_WORLD])


def test_no_verb_is_refused_that_comes_first(world: World, collider: Collider) -> None:
    for act in VERBS.values():
        world.restore()
        act(collider.conns[0], world, 0)


@pytest.mark.timeout(600)
def test_no_pair_of_verbs_deadlocks_or_breaks_a_rule(world: World, collider: Collider) -> None:
    # All of them meet in the long tests, often.
    meet_all(world, collider, seed=1, one_in=5)


@pytest.mark.long
@pytest.mark.parametrize("pair", CLOSE_PAIRS, ids="-".join)
def test_pairs_that_want_the_same_rows_never_deadlock(world: World, collider: Collider, pair: tuple[str, str]) -> None:
    for _ in range(5):
        meet_in_turn(world, collider, [pair])


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_no_pair_of_verbs_deadlocks_or_breaks_a_rule_in_many_orders(world: World, collider: Collider) -> None:
    for seed in range(100, 150):
        meet_all(world, collider, seed)
