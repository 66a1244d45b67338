"""What an import costs by step: the file as a whole, analysis, processing. One batch after the other, in this session.

python -m bench.register.imports [LEGAL_UNITS]
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

from bench.engine.harness import report
from bench.register.harness import Bed, register_server
from catchment_register.generate.files import UNIT_FILES
from catchment_register.generate.plan import PROFILES

STEPS = """
select coalesce(t.payload ->> 'step', 'prepare') as step, sum(t.process_duration_ms) * 1000 / %s as microseconds
  from worker.tasks as t
 where t.command = 'import_job_process' and (t.payload ->> 'job_id')::integer = %s
 group by 1 order by min(t.id)
"""


def measure(bed: Bed) -> None:
    """Each file, and after the first one the same file again: then nothing is new."""
    for kind in (*UNIT_FILES, "legal_unit"):
        began = time.perf_counter()
        job_id, rows = bed.upload(kind)
        uploaded, cpu = time.perf_counter(), bed.cpu_seconds()
        bed.conn.execute("call worker.drain('import')")
        seconds, spent = time.perf_counter() - uploaded, bed.cpu_seconds() - cpu
        report(f"{kind}: {rows:,} rows", f"{rows / seconds:,.0f} rows/s", bar="one batch at a time")
        report("  upload", f"{rows / (uploaded - began):,.0f} rows/s")
        for step, microseconds in bed.conn.execute(STEPS, [rows, job_id]):
            report(f"  {step}", f"{microseconds:,.1f} µs a row")
        report("  server CPU", f"{spent * 1e6 / rows:,.1f} µs a row")


def main() -> None:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    with register_server() as server, server.bed(replace(PROFILES["national"], legal_units=size)) as bed:
        measure(bed)


if __name__ == "__main__":
    main()
