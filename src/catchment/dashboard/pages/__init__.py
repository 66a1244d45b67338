"""The screens, one module each: what it reads, and what can be done there. SQL is in the file of its name beside it.

To add one, write its module and its template, and name it here.
"""

from catchment.dashboard.pages import (
    bulk,
    health,
    lanes,
    now,
    schedules,
    scope,
    scopes,
    start,
    table,
    table_actions,
    table_preview,
    tables,
    task,
    tasks,
    values,
    workers,
)
from catchment.dashboard.screen import AnyAction, AnyScreen

SCREENS: tuple[AnyScreen, ...] = (
    now.SCREEN,
    tasks.SCREEN,
    task.SCREEN,
    *values.SCREENS,
    bulk.ASK,
    bulk.PROGRESS,
    start.SCREEN,
    scopes.SCREEN,
    scope.SCREEN,
    lanes.SCREEN,
    schedules.SCREEN,
    workers.SCREEN,
    tables.SCREEN,
    table.SCREEN,
    table_preview.SCREEN,
    health.SCREEN,
)
"""In the order of the rail."""

ACTIONS: tuple[AnyAction, ...] = (
    task.RETRY,
    task.CANCEL,
    bulk.RETRY,
    bulk.CANCEL,
    start.START,
    scope.RETRY,
    scope.CANCEL,
    now.PAUSE,
    now.RESUME,
    lanes.SKIP,
    schedules.RUN,
    schedules.PAUSE,
    schedules.RESUME,
    workers.PAUSE,
    workers.RESUME,
    workers.DRAIN,
    *table_actions.ACTIONS,
)
