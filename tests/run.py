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
# What depends on the version of the server.
VERSIONED = [
    "tests/sql",
    "tests/engine",
    "tests/migrations",
    "tests/client",
    "tests/testing",
    "tests/register",
    "tests/lake/foundation/test_guard.py",
    "tests/lake/foundation/test_refresh.py",
    "tests/lake/foundation/test_tables.py",
    "tests/lake/schedule/test_no_data.py",
    "tests/lake/schedule/test_rounds.py",
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
