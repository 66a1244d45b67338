"""The cost of a round depends on what changed, not on the size of the register: the same edits at one, two and four
times the size."""

from __future__ import annotations

from dataclasses import replace

from bench.engine.harness import report
from bench.register.edit import Cost, median
from bench.register.harness import Server
from catchment_register.generate.plan import Plan

CHANGES = (1, 100)


def scale(server: Server, plan: Plan, *, quick: bool) -> None:
    times = 3 if quick else 7
    first: dict[int, Cost] = {}
    for factor in (1, 2, 4):
        sized = replace(plan, legal_units=plan.legal_units * factor)
        with server.bed(sized) as bed:
            bed.load()
            bed.start_worker("analytics")
            bed.wait_settled("analytics")
            for changed in CHANGES:
                cost = median(bed, "turnover", changed, times)
                ratio = cost.wall / first.setdefault(changed, cost).wall
                report(
                    f"{changed} edited among {sized.legal_units:,} legal units",
                    f"{cost.wall * 1000:,.0f} ms, {ratio:.2f} times",
                    bar=f"must be ≤ 1.3 times; server CPU {cost.cpu * 1000:,.0f} ms",
                )
