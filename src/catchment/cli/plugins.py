"""Commands of other packages: whatever is installed under the entry-point group ``catchment.commands``.

An entry point names a ``typer.Typer``. It is imported when its command is used or listed, and one that cannot be
imported spoils its own command alone.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer
from rich.markup import escape

from catchment.commands import LazyGroup
from catchment.errors import CatchmentError

GROUP = "catchment.commands"


class PluginGroup(LazyGroup):
    """The commands that were added, and after them those of plug-ins."""

    def list_commands(self, ctx: Any) -> list[str]:
        own = super().list_commands(ctx)
        return [*own, *sorted({e.name for e in entry_points(group=GROUP)} - {*own})]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        for entry in entry_points(group=GROUP, name=cmd_name):
            return _load(entry)
        return None


def _load(entry: EntryPoint) -> Any:
    try:
        made = typer.main.get_command(entry.load())
    # Another package's import may raise anything.
    except (Exception, SystemExit) as error:
        made = typer.main.get_command(_broken(entry, error))
    made.name = entry.name
    return made


def _broken(entry: EntryPoint, error: BaseException) -> typer.Typer:
    """Stands in for a plug-in that cannot be imported, and says so when it is used."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    settings: dict[Any, Any] = {"allow_extra_args": True, "ignore_unknown_options": True}

    @app.command(help=escape(f"Cannot be used: {error}"), context_settings=settings)
    def refuse() -> None:  # pyright: ignore[reportUnusedFunction]  # typer calls it
        raise CatchmentError(
            f"catchment {entry.name} cannot be used: {error}",
            hint=f"It is installed as {entry.value}: install what it needs, or remove its package.",
        ) from error

    return app
