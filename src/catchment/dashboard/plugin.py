"""Screens of other packages: whatever is installed under the entry-point group ``catchment.dashboard``.

An entry point names a ``Plugin``. One that cannot be loaded is logged, and the dashboard continues without it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from time import monotonic
from typing import Any

from catchment.dashboard.database import Reader
from catchment.dashboard.errors import Problem
from catchment.dashboard.screen import AnyScreen

GROUP = "catchment.dashboard"
# How long it is believed which schemas the database has.
SCHEMA_SECONDS = 10.0

logger = logging.getLogger("catchment.dashboard")


@dataclass(frozen=True, kw_only=True, eq=False)
class Plugin:
    """Screens that another package adds.

    - ``name``: its name, unique. Its templates are ``name/…`` and its static files below ``/static/name/``, from the
      folders ``templates`` and ``static`` of ``package``.
    - ``schema``: the database schema that the screens are about. Without it they are not in the rail, and their
      addresses answer ``absent``, with ``hint``.
    - ``role``: the database role that reads. Defaults to that of all screens.
    - ``functions``: more functions for its templates, by name.
    - ``channels``: notifications after which open pages are read again.
    """

    name: str
    package: str
    screens: tuple[AnyScreen, ...]
    schema: str
    absent: str
    hint: str
    role: str | None = None
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict[str, Callable[..., Any]])
    channels: tuple[str, ...] = ()


class Plugins:
    """The plugins of a dashboard, and which of them its database has something for."""

    def __init__(self, plugins: tuple[Plugin, ...]) -> None:
        self.all = plugins
        self.screens = tuple(screen for plugin in plugins for screen in plugin.screens)
        self._by_screen = {screen.name: plugin for plugin in plugins for screen in plugin.screens}
        self._schemas: frozenset[str] = frozenset()
        self._looked_at = float("-inf")

    def of(self, screen: AnyScreen) -> Plugin | None:
        """The plugin that a screen is from; None if it is from this package."""
        return self._by_screen.get(screen.name)

    def is_present(self, screen: AnyScreen) -> bool:
        plugin = self.of(screen)
        return plugin is None or plugin.schema in self._schemas

    async def look(self, reader: Reader, screen: AnyScreen | None = None) -> None:
        """See which schemas there are, at most every ten seconds. Refuse a screen whose schema is not there."""
        is_missing = screen is not None and not self.is_present(screen)
        if self.all and (is_missing or monotonic() - self._looked_at > SCHEMA_SECONDS):
            rows = await reader.rows(
                "select s.name from unnest(%(names)s::text[]) as s (name) where to_regnamespace(s.name) is not null",
                names=[plugin.schema for plugin in self.all],
            )
            self._schemas = frozenset(row["name"] for row in rows)
            self._looked_at = monotonic()
        plugin = None if screen is None else self.of(screen)
        if plugin is not None and plugin.schema not in self._schemas:
            raise Problem(404, plugin.absent, plugin.hint)


def find_plugins() -> tuple[Plugin, ...]:
    """All that can be loaded, by name."""
    plugins: dict[str, Plugin] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            loaded = entry.load()
            if not isinstance(loaded, Plugin):
                raise TypeError(f"{entry.value} is {type(loaded).__name__}, expected a Plugin")
            if loaded.name in plugins:
                raise ValueError(f"two plugins are called {loaded.name}")
            plugins[loaded.name] = loaded
        except Exception as error:  # the import of another package may raise anything
            logger.warning("the screens of %s (%s) cannot be used: %s", entry.name, entry.value, error)
    return tuple(plugins.values())
