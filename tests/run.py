"""Runs the suite: on the embedded PostgreSQL 18, then the parts that depend on the server on Debian's 15 if it is here.

python tests/run.py [--long] [pytest arguments]
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
DEBIAN_15 = Path("/usr/lib/postgresql/15/bin/postgres")
# What depends on the version of the server: SQL of every kind once. What surrounds it is not run again.
VERSIONED = [
    "tests/sql",
    "tests/migrations",
    "tests/client",
    *(f"tests/engine/test_{name}.py" for name in ("commits", "last_children", "rules", "transcripts")),
    *(f"tests/lake/foundation/test_{name}.py" for name in ("guard", "refresh", "tables")),
    *(f"tests/lake/schedule/test_{name}.py" for name in ("no_data", "rounds")),
    *(f"tests/register/test_{name}.py" for name in ("capture", "edit", "flush", "guard_collisions", "history")),
    *(f"tests/register/test_{name}.py" for name in ("import_strategies", "import_units", "norway_small_history")),
    *(f"tests/register/test_{name}.py" for name in ("oracle", "postgres_facts", "primary_rules", "propagation")),
    *(f"tests/register/test_{name}.py" for name in ("registry", "roles", "rounds", "row_rules", "schema")),
    *(f"tests/register/test_{name}.py" for name in ("temporal_guards", "temporal_merge", "unit_facet", "verify")),
]


def main() -> int:
    arguments = sys.argv[1:]
    marks = "long" if "--long" in arguments else "not long"
    arguments = [a for a in arguments if a != "--long"]
    base = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-m", marks]
    if subprocess.call([*base, *arguments], cwd=ROOT) != 0:
        return 1
    if arguments or not DEBIAN_15.exists():
        return 0
    print("\nOnce more on PostgreSQL 15:", flush=True)
    return subprocess.call([*base, *VERSIONED], cwd=ROOT, env=os.environ | {"CATCHMENT_TEST_PG": "15"})


if __name__ == "__main__":
    sys.exit(main())
