"""A connection that is lost: one line when that happens, and one when there is one again.

Each part of a worker has a connection, and reports its loss by itself.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress

import psycopg

from catchment.cli.dev.outputs import show
from catchment.commands.times import clock
from catchment.errors import CatchmentError
from catchment.store.connect import connect_async

LOSSES = ("connection.lost", "upkeep.disconnected", "worker.disconnected")
LOOK_SECONDS = 0.5
# Parts that rest notice the same loss when they wake up.
LATE_SECONDS = 30.0


class Outage:
    def __init__(self) -> None:
        self._is_on = False
        self._quiet_until = 0.0

    def hides(self, record: logging.LogRecord) -> bool:
        """Is this the loss of a connection, of which there is nothing more to show?"""
        if getattr(record, "event", None) not in LOSSES:
            return False
        if not self._is_on and time.monotonic() > self._quiet_until:
            self._is_on = True
            reason = " ".join(record.getMessage().partition(": ")[2].split())
            show(f"{clock()} {'warning':<11} the connection to the database is lost: {reason}")
        return True

    async def watch(self, dsn: str) -> None:
        """Say when there is a connection again, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if self._is_on:
                with suppress(psycopg.Error, CatchmentError, OSError):
                    await (await connect_async(dsn, name="catchment dev")).close()
                    self._quiet_until = time.monotonic() + LATE_SECONDS
                    self._is_on = False
                    show(f"{clock()} {'connected':<11} to the database again")
