"""Commands of other packages: whatever is installed under the entry-point group ``catchment.commands``.

An entry point names a ``typer.Typer``. It is imported when its command is used or listed, and one that cannot be
imported spoils its own command alone. A name that Catchment has stays Catchment's, and one that two packages have is
neither's; the list of commands warns of both.

``KeyboardInterrupt`` alone ends the call: Ctrl-C arrives like this, also while a plug-in is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, distributions, entry_points
from typing import Any

import typer

from catchment.commands.group import LazyGroup, cannot_be_used, make_readable, plain, readable, said
from catchment.errors import CatchmentError, DefinitionRefused, a_kind

GROUP = "catchment.commands"
OURS = "catchment"


class PluginGroup(LazyGroup):
    """The commands that were added, and after them those of plug-ins."""

    def list_commands(self, ctx: Any) -> list[str]:
        own = super().list_commands(ctx)
        return [*own, *sorted({entry.name for entry in _installed()} - {*own})]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        entries = [entry for entry in _installed() if entry.name == cmd_name]
        return _load(entries) if entries else None

    def format_help(self, ctx: Any, formatter: Any) -> None:
        super().format_help(ctx, formatter)
        for warning in self._warnings(ctx):
            print(f"warning: {warning}", file=sys.stderr)

    def _warnings(self, ctx: Any) -> Iterator[str]:
        unreadable: list[str] = []
        entries = _installed(unreadable)
        yield from unreadable
        own = {*super().list_commands(ctx)} | {entry.name for entry in entries if _is_ours(entry)}
        for entry in entries:
            if entry.name in own and not _is_ours(entry):
                yield f"{entry.name} of {_package(entry)} ({entry.value}) is not used, catchment has this command"


def _installed(unreadable: list[str] | None = None) -> list[EntryPoint]:
    """All entry points. Packages with unreadable ones are skipped, and listed in ``unreadable``."""
    try:
        return list(entry_points(group=GROUP))
    except Exception:  # one malformed file spoils them all: each package by itself
        made: dict[str, list[EntryPoint]] = {}
        for package in distributions():
            name = "?"
            try:
                name = package.name
                made.setdefault(name, [entry for entry in package.entry_points if entry.group == GROUP])
            except Exception as error:
                if unreadable is not None:
                    unreadable.append(f"the entry points of {name} cannot be read: {said(error)}")
        return [entry for entries in made.values() for entry in entries]


def _is_ours(entry: EntryPoint) -> bool:
    return entry.dist is not None and entry.dist.name == OURS


def _package(entry: EntryPoint) -> str:
    return "a package" if entry.dist is None else entry.dist.name


def _load(entries: list[EntryPoint]) -> Any:
    entry = next((entry for entry in entries if _is_ours(entry)), entries[0])
    try:
        if not _is_ours(entry) and len({other.value for other in entries}) > 1:
            rivals = ", ".join(f"{_package(other)} ({other.value})" for other in entries)
            raise DefinitionRefused(f"two packages have a command of this name: {rivals}", hint="Remove one of them.")
        loaded = entry.load()
        if not isinstance(loaded, typer.Typer):
            raise DefinitionRefused(f"{entry.value} is {a_kind(loaded)}, expected a typer.Typer")
        made = make_readable(typer.main.get_command(loaded))
        made.short_help = readable(made.short_help)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # another package's import may raise anything
        made = typer.main.get_command(_broken(cannot_be_used(f"catchment {entry.name}", entry.value, error), error))
    made.name = entry.name
    return made


def _broken(refusal: CatchmentError, error: BaseException) -> typer.Typer:
    """Stands in for a plug-in that cannot be used, and says so when it is."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    settings: dict[Any, Any] = {"allow_extra_args": True, "ignore_unknown_options": True}

    @app.command(help=plain(f"Cannot be used: {said(error)}"), context_settings=settings)
    def refuse() -> None:  # pyright: ignore[reportUnusedFunction]  # typer calls it
        raise refusal from error

    return app
