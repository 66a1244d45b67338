"""The dashboard of ``catchment dev``: it shows the database that the worker uses, and stays when that is replaced."""

from __future__ import annotations

import select
from collections.abc import Callable

from catchment.cli.beside import MISSING, DashboardBeside
from catchment.extras import DASHBOARD


class DevDashboard:
    """``say`` shows a line to the user; ``port`` is the first to try."""

    def __init__(self, port: int | None, say: Callable[[str], None]) -> None:
        self._port = port
        self._say = say
        self._dsn: str | None = None
        self._beside: DashboardBeside | None = None
        self._has_address = False
        self._is_missing = False

    def show(self, dsn: str | None) -> None:
        """Serve this database, None for the embedded server, unless that is done already."""
        if not DASHBOARD.is_installed:
            if not self._is_missing:
                self._is_missing = True
                self._say(MISSING)
        elif self._beside is None or self._dsn != dsn:
            self.stop()
            self._dsn = dsn
            self._beside = DashboardBeside(dsn, self._port)
            self._has_address = False

    def register(self, poll: select.poll) -> None:
        """Let this poll end when there is something to hear."""
        if self._beside is not None:
            poll.register(self._beside.line, select.POLLIN)

    def hear(self) -> None:
        """Say where it is, and if it has ended: then the next worker has another one."""
        if self._beside is None:
            return
        address = self._beside.address()
        if address is not None and not self._has_address:
            self._has_address = True
            self._say(f"the dashboard is at {address}")
        if self._beside.has_hung_up:
            self.stop()
            self._say("the dashboard has ended; it starts again with the next reload")

    def stop(self) -> None:
        if self._beside is not None:
            self._beside.stop()
            self._beside = None
