"""A whole register: its import, its derivation from nothing, and the stages of that."""

from __future__ import annotations

import time

from bench.engine.harness import report
from bench.register.harness import Bed, end
from bench.register.stages import print_stages, read_stages
from catchment_register.generate.files import UNIT_FILES

# Below it, times of the known run say nothing.
KNOWN_SIZE = 1_000_000
COUNTS = ("statistical_unit", "statistical_history", "statistical_unit_facet", "statistical_history_facet")


def load(bed: Bed) -> None:
    """Import every file, analytics standing still, and tell the rates."""
    worker = bed.start_worker("import")
    total, took, cpu = 0, 0.0, bed.cpu_seconds()
    for kind in UNIT_FILES:
        began = time.perf_counter()
        job_id, rows = bed.upload(kind)
        uploaded = time.perf_counter()
        bed.wait_settled("import")
        seconds = time.perf_counter() - uploaded
        errors = bed.value("select error_count from register.import_job where id = %s", job_id)
        upload = rows / max(uploaded - began, 0.001)
        report(
            f"import of {rows:,} rows: {kind}",
            f"{rows / seconds:,.0f} rows/s",
            bar=f"upload {upload:,.0f}, {errors} errors",
        )
        total, took = total + rows, took + seconds
    end(worker)
    cpu = bed.cpu_seconds() - cpu
    report("import, all files, all steps", f"{total / took:,.0f} rows/s", bar="must be ≥ 15,000 at full size")
    report("  server CPU for each row, upload included", f"{cpu / total * 1e6:,.0f} µs")


def derive(bed: Bed) -> None:
    """Everything that was imported through one round, and its stage table."""
    began, cpu = time.perf_counter(), bed.cpu_seconds()
    bed.start_worker("analytics")
    bed.wait_settled("analytics")
    wall = time.perf_counter() - began
    round_id = bed.value("select max(id) from register.round where state = 'done'")
    if round_id is None:
        raise RuntimeError("no round ended")
    print_stages(read_stages(bed, round_id), wall, compares=bed.plan.legal_units >= KNOWN_SIZE)
    rows = {name: bed.value(f"select count(*) from register.{name}_row") for name in COUNTS}
    report("full derivation", f"{wall:,.1f} s", bar="must be < 180 at full size")
    report("  server CPU", f"{bed.cpu_seconds() - cpu:,.1f} s")
    for name, count in rows.items():
        report(f"  rows of {name}", f"{count:,}")
    report("peak memory of the workers", f"{bed.memory.peak / 2**20:,.0f} MiB", bar="must be < 4,096")
    report("  of all sessions of the server", f"{bed.memory.sessions / 2**20:,.0f} MiB", bar="without shared buffers")
