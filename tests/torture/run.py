"""Workers run handlers that do everything wrong, while they are killed, stopped and cut off. Nothing may be lost."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from catchment import App
from tests.fixtures.proxy import proxied
from tests.torture import app as poison
from tests.torture.faults import Fleet

DIED = ("worker died", "interrupted 5 times")
# A machine that is too slow for the rate gets less.
MOST_WAITING = 300
# Seconds until the server learns that the client of a frozen connection is gone. Without, sessions fill the server.
KEEPALIVE = 20.0


@dataclass
class Outcome:
    """What became of everything."""

    tasks: int
    states: Counter[str]
    faults: Counter[str]
    stops: list[float]
    problems: list[str]

    def __str__(self) -> str:
        slowest = max(self.stops, default=0.0)
        return (
            f"{self.tasks} tasks: {dict(self.states)}; faults: {dict(self.faults)}; slowest of {len(self.stops)} stops"
            f" {slowest:.1f} s; {len(self.problems)} problems"
        )


def torture(
    dsn: str, folder: Path, *, seed: int, seconds: float, workers: int = 2, rate: float = 60.0, calm: float = 1.0
) -> Outcome:
    """Give poison and work for some time, with a fault every ``calm`` seconds or so; then let everything settle."""
    dice = random.Random(seed)
    client = App(dsn)
    for command in poison.app.commands:
        client.commands.add(command)
    client.sync.register()
    with psycopg.connect(dsn, autocommit=True) as conn, proxied(dsn, keepalive=KEEPALIVE) as proxy:
        conn.execute("create schema torture; create table torture.effect (task_id bigint, n integer)")
        fleet = Fleet(proxy, folder, workers)
        given: dict[int, str] = {}
        try:
            fleet.fill()
            _torment(client, conn, fleet, given, dice, seconds=seconds, rate=rate, calm=calm)
            _settle(conn, fleet)
            while fleet.workers:
                fleet.stop(dice)
            return _look(conn, fleet, given)
        finally:
            fleet.end()
            client.sync.close()


def _torment(
    client: App,
    conn: psycopg.Connection,
    fleet: Fleet,
    given: dict[int, str],
    dice: random.Random,
    *,
    seconds: float,
    rate: float,
    calm: float,
) -> None:
    faults: list[Callable[[], None]] = [
        lambda: fleet.kill(dice),
        lambda: fleet.stop(dice),
        lambda: fleet.pause(dice),
        *[lambda: fleet.freeze(dice)] * 4,
        *[lambda: fleet.cut(dice, conn)] * 4,
    ]
    until = time.monotonic() + seconds
    fault_at = time.monotonic() + calm
    while time.monotonic() < until:
        waiting = _value(conn, "select count(*) from worker.tasks where state <> all (%s)", _SETTLED)
        for _ in range(int(rate / 10) if waiting < MOST_WAITING else 0):
            command, payload, is_good = _draw(dice, len(given))
            lane = f"lane {dice.randint(1, 5)}" if is_good and dice.random() < 0.2 else None
            given[command.sync.using(app=client, lane=lane).enqueue(**payload).id] = command.name if is_good else ""
        time.sleep(0.1)  # the rate at which work comes
        if time.monotonic() > fault_at:
            dice.choice(faults)()
            fault_at = time.monotonic() + dice.uniform(0.2, 1.8) * calm
        fleet.fill()


def _draw(dice: random.Random, n: int) -> tuple[Any, dict[str, Any], bool]:
    """A command with its payload, and whether it has to complete."""
    if dice.random() < 0.6:
        command = dice.choice([poison.work, poison.work, poison.work_in_thread, poison.write, poison.write])
        if dice.random() < 0.1:
            return dice.choice([poison.tree, poison.fail_twice]), {"n": n}, True
        return command, {"n": n, "seconds": dice.choice([0.0, 0.01, 0.1])}, True
    raised = dice.choice(list(poison.RAISED))
    kinds: list[tuple[Any, dict[str, Any], bool]] = [
        (poison.throw, {"what": raised, "later": dice.random() < 0.5}, False),
        (poison.throw_in_thread, {"what": raised}, False),
        (poison.throw_beside, {"what": raised}, False),
        (poison.give, {"what": dice.choice(list(poison.RETURNED))}, False),
        (poison.tell, {"what": dice.choice(list(poison.TOLD))}, True),
    ]
    if dice.random() < 0.15:
        kinds = [
            (poison.throw_in_process, {"what": raised}, False),
            (poison.give_from_process, {"what": dice.choice(list(poison.RETURNED))}, False),
            (poison.die, {"how": dice.choice(["exit", "kill", "fault"])}, False),
            (poison.refuse_to_stop, {"seconds": dice.choice([1, 5, 3600])}, False),
            (poison.block, {"seconds": dice.choice([0.05, 0.5])}, True),
            (poison.call_exit_soon, {}, False),
        ]
    return dice.choice(kinds)


def _settle(conn: psycopg.Connection, fleet: Fleet, *, seconds: float = 60) -> None:
    """No more faults: everything has to settle. It may take a while, but not without anything settling."""
    last, until = 0, time.monotonic() + seconds
    left = "select exists (select from worker.tasks where state <> all (%s) and queue = 'torture')"
    while _value(conn, left, _SETTLED) and time.monotonic() < until:
        fleet.fill()
        settled = _value(conn, "select count(*) from worker.outcome")
        if settled > last:
            last, until = settled, time.monotonic() + seconds
        time.sleep(0.1)


def _look(conn: psycopg.Connection, fleet: Fleet, given: dict[int, str]) -> Outcome:
    rows = conn.execute("select id, state, error from worker.tasks where queue = 'torture'").fetchall()
    known = {i: (state, error) for i, state, error in rows}
    problems = list(fleet.ended_by_itself)
    problems += [f"task {i} is {state}" for i, (state, _) in known.items() if state not in _SETTLED]
    problems += [f"{name} {i} is gone" for i, name in given.items() if i not in known]
    for i, name in given.items():
        state, error = known.get(i, ("gone", None))
        if name and state == "failed" and not (error or "").startswith(DIED):
            problems.append(f"{name} {i} failed: {error}")
    problems += [f"lane halted: {row}" for row in conn.execute("select * from worker.lanes where state = 'halted'")]
    problems += [f"invariant: {row}" for row in conn.execute("select * from worker.check_invariants()")]
    problems += [
        f"{row[0]} rows of write {row[1]}, which is {row[2]}"
        for row in conn.execute(
            "select count(e.task_id), t.id, t.state"
            " from worker.tasks as t left join torture.effect as e on e.task_id = t.id"
            " where t.command = 'write' group by t.id, t.state"
            " having count(e.task_id) <> (t.state = 'completed')::integer"
        )
    ]
    failed = fleet.events("part.failed")
    if failed:
        problems.append(f"{failed} parts failed: see the logs")
    return Outcome(len(known), Counter(s for s, _ in known.values()), fleet.faults, fleet.stops, problems)


_SETTLED = ["completed", "failed", "cancelled"]


def _value(conn: psycopg.Connection, query: str, *parameters: Any) -> Any:
    row = conn.execute(query, parameters).fetchone()  # type: ignore[arg-type]
    return None if row is None else row[0]
