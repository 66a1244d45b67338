"""What all tasks of the lake in one process share: the database, its DuckDB, and the control schema."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache

from catchment.lake.control.control import Control
from catchment.lake.control.install import install
from catchment.lake.duck.duck import Duck
from catchment.lake.settings import LakeSettings
from catchment.store.connect import find_dsn
from catchment.task.commands import Commands

served: ContextVar[str | None] = ContextVar("catchment_lake_dsn", default=None)
"""The database of a dispatcher that runs within another program. A worker process has it in its environment."""


@dataclass(frozen=True, slots=True)
class LakeProcess:
    """The lake as the tasks of this process see it."""

    dsn: str
    settings: LakeSettings
    control: Control

    @property
    def duck(self) -> Duck:
        """The DuckDB of this process; a new one after an error that broke the last."""
        return Duck.open(self.dsn, self.settings)


def this_process(commands: Callable[[], Commands]) -> LakeProcess:
    """The lake of the database that is served here; its installation, with these commands, is looked at once."""
    dsn = served.get() or find_dsn(None)
    return LakeProcess(dsn, LakeSettings.read(), _control(dsn, commands))


@cache
def _control(dsn: str, commands: Callable[[], Commands]) -> Control:
    install(dsn, None, LakeSettings.read(), commands)
    control = Control(dsn)
    atexit.register(control.close)
    return control
