"""Small rounds: from the commit of an edit until all four derived tables have it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from bench.engine.harness import report
from bench.register.harness import Bed

# Each takes ids of legal units.
EDITS = {
    "turnover": "update register.stat_for_unit set value_float = value_float + 1"
    " where legal_unit_id = any(%s) and value_float is not null",
    "name": "update register.legal_unit set name = left(name, 200) || ' ny' where id = any(%s)",
    "region": "update register.location set region_id ="
    " (select id from register.region order by md5(%(salt)s || id) limit 1)"
    " where legal_unit_id = any(%(ids)s) and type = 'physical' and region_id is not null",
}


def choose(bed: Bed, count: int, salt: int) -> list[int]:
    """Ids of legal units, from all over the register."""
    asks = (
        "select array_agg(id) from (select distinct l.id from register.legal_unit as l join register.stat_for_unit as s"
        " on s.legal_unit_id = l.id and s.value_float is not null where l.id %% %s = %s limit %s) as l"
    )
    units = bed.value("select count(*) from register.legal_unit")
    step = max(1, units // (count * 3))
    found: list[int] = bed.value(asks, step, salt % step, count) or []
    return found


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds from the commit of an edit until its round has ended, and seconds that the server computed."""

    wall: float
    cpu: float


def publish(bed: Bed, act: Callable[[], None]) -> Cost:
    """Do something, and wait until it is published."""
    cpu = bed.cpu_seconds()
    before = bed.value("select coalesce(max(id), 0) from register.round")
    act()
    began = time.perf_counter()
    until = began + 600
    while not bed.value("select exists (select from register.round where id > %s and state = 'done')", before):
        if time.perf_counter() > until:
            raise TimeoutError("the round did not end in 600 s")
        time.sleep(0.005)
    took = time.perf_counter() - began
    bed.wait_settled("analytics")
    return Cost(took, bed.cpu_seconds() - cpu)


def edit(bed: Bed, kind: str, ids: list[int], salt: int) -> None:
    parameters: object = {"salt": str(salt), "ids": ids} if kind == "region" else [ids]
    bed.conn.execute(EDITS[kind], parameters)  # pyright: ignore[reportArgumentType] - either form is right


def small_rounds(bed: Bed, *, quick: bool) -> None:
    """One unit by each kind of edit, then 1,000 units, then one of a hundred."""
    times = 2 if quick else 5
    for kind in EDITS:
        cost = median(bed, kind, 1, times)
        _tell(f"one edited unit ({kind}), commit to published", cost, "must be < 1.5")
    many = min(1000, max(1, bed.plan.legal_units // 4))
    _tell(f"{many:,} edited units", median(bed, "turnover", many, times), "must be < 5 for 1,000")
    share = max(1, bed.plan.legal_units // 100)
    cost = median(bed, "turnover", share, 1 if quick else 3)
    _tell(f"one unit of a hundred ({share:,})", cost, "must be < 20 at full size")


def _tell(name: str, cost: Cost, bar: str) -> None:
    report(name, f"{cost.wall:,.2f} s", bar=f"{bar}; server CPU {cost.cpu:,.2f} s")


def median(bed: Bed, kind: str, count: int, times: int) -> Cost:
    """The middle one of several rounds, by the clock."""
    costs = [measure(bed, kind, count, salt) for salt in range(1, times + 1)]
    return sorted(costs, key=lambda cost: cost.wall)[len(costs) // 2]


def measure(bed: Bed, kind: str, count: int, salt: int) -> Cost:
    ids = choose(bed, count, salt)
    if len(ids) < min(count, bed.plan.legal_units // 4):
        raise RuntimeError(f"only {len(ids)} of {count} units to edit were found")
    return publish(bed, lambda: edit(bed, kind, ids, salt))
