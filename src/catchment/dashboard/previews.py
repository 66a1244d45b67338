"""Starts the process that reads the first rows of a dynamic table, and ends it if it takes too long or nobody waits."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from typing import Any

from catchment.dashboard.errors import Problem

ROWS = 100
LETTERS = 2000
SECONDS = 15
MEMORY = 256 * 1024 * 1024
MOST_RUNNING = 2
"""Each holds a connection of the dashboard while it runs."""


class Previews:
    """The processes of one dashboard, a few at a time. They read the catalog as ``role``, if the login may."""

    def __init__(self, role: str) -> None:
        self._role = role
        self._running = 0

    async def read(self, dsn: str, table_id: int) -> dict[str, Any]:
        """Columns and rows as ``catchment.lake.tables.preview`` writes them. Raises ``Problem``."""
        if self._running >= MOST_RUNNING:
            raise Problem(409, f"{self._running} previews are being read already", "Try again in a moment.")
        self._running += 1
        try:
            return await _read(
                {
                    "dsn": dsn,
                    "table_id": table_id,
                    "role": self._role,
                    "rows": ROWS,
                    "letters": LETTERS,
                    "memory": MEMORY,
                    "seconds": SECONDS,
                }
            )
        finally:
            self._running -= 1


async def _read(request: dict[str, Any]) -> dict[str, Any]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "catchment.lake.tables.preview"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        # By standard input: the arguments of a process are there for all to see, and a DSN may have a password.
        async with asyncio.timeout(SECONDS):
            written, complaint = await process.communicate(json.dumps(request).encode())
    except TimeoutError as error:
        raise Problem(
            503, f"the rows could not be read within {SECONDS} seconds", "Try again, or read the table in DuckDB."
        ) from error
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode != 0:
        raise Problem(500, f"the preview failed: {complaint.decode(errors='replace').strip()[-500:]}")
    answer: dict[str, Any] = json.loads(written)
    if "error" in answer:
        raise Problem(409, f"the rows cannot be read: {answer['error'][:1000]}", answer["hint"])
    return answer
