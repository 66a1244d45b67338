"""Runs the benchmarks of the register.

python -m bench.register [--quick] [--legal-units N] [full|edit|scale|history ...]

Without names: full and edit, on one register of 1,100,000 legal units; ``--quick`` makes all
of them a hundred times smaller. ``history`` is a tenth of the units over ten years, ``scale`` four times a tenth.
``python -m bench.register.imports`` tells what an import costs by step.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from bench.register import edit, full
from bench.register.harness import Server, register_server
from bench.register.scale import scale
from catchment_register.generate.plan import PROFILES, Plan

PARTS = ("full", "edit", "scale", "history")
QUICK = 100


def main() -> None:
    quick, size, chosen = _read(sys.argv[1:])
    national, history = (_sized(PROFILES[name], quick, size) for name in ("national", "history"))
    with register_server() as server:
        if not chosen or {"full", "edit"} & set(chosen):
            _whole(server, national, edits=not chosen or "edit" in chosen, quick=quick)
        if "history" in chosen:
            _whole(server, history, edits=True, quick=quick)
        if "scale" in chosen:
            scale(server, national if size or quick else replace(national, legal_units=110_000), quick=quick)


def _read(arguments: list[str]) -> tuple[bool, int | None, list[str]]:
    rest = iter(arguments)
    quick, size, chosen = False, None, list[str]()
    for argument in rest:
        if argument == "--quick":
            quick = True
        elif argument == "--legal-units":
            size = int(next(rest))
        elif argument in PARTS:
            chosen.append(argument)
        else:
            raise SystemExit(__doc__)
    return quick, size, chosen


def _sized(plan: Plan, quick: bool, size: int | None) -> Plan:
    return replace(plan, legal_units=size or plan.legal_units // (QUICK if quick else 1))


def _whole(server: Server, plan: Plan, *, edits: bool, quick: bool) -> None:
    print(f"\n{plan.legal_units:,} legal units, {plan.years} years, today {plan.today}", flush=True)
    with server.bed(plan) as bed:
        full.load(bed)
        full.derive(bed)
        if edits:
            edit.small_rounds(bed, quick=quick)


if __name__ == "__main__":
    main()
