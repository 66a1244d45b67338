"""Finds the apps that a command line names. Their modules are the user's: what they raise is shown with its lines."""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import typer
from psycopg import Connection

from catchment.cli import app_advice as advice
from catchment.client.app import App
from catchment.client.imports import ModuleMissing
from catchment.commands.group import said
from catchment.errors import CatchmentError, RequestRefused, a_kind
from catchment.extras import LAKE
from catchment.store import embedded, registry
from catchment.store.connect import DSN_VARIABLE, named, target_of
from catchment.store.foreign.of_psycopg import PsycopgSender
from catchment.task.commands import Commands, definition, united


class AppNotFound(RequestRefused):
    """No app is where a command line says. The hint says what to type."""


@dataclass(frozen=True, slots=True)
class Apps:
    """The apps that one worker serves, by where they are."""

    by_place: dict[str, App]

    def commands(self) -> Commands:
        """All their commands, those of the modules in ``imports`` included. Raises ``RequestRefused`` for an app that
        has none, and for a module that cannot be imported."""
        for place, app in self.by_place.items():
            _load(place, app)
        return united({place: app.commands for place, app in self.by_place.items()})

    def dsn(self, option: str | None) -> str | None:
        """The database to serve: of the option ``--dsn``, or of the apps if they name one, or of the environment; None
        for that of the embedded server. Raises ``RequestRefused`` if the apps use different ones."""
        if option is not None and option != os.environ.get(DSN_VARIABLE):
            return option
        (place, chosen), *others = [(place, app.given_dsn or option) for place, app in self.by_place.items()]
        for other, dsn in others:
            if (dsn is None) != (chosen is None) or target_of(dsn) != target_of(chosen):
                raise RequestRefused(
                    f"{place} uses {named(chosen)}, and {other} uses {named(dsn)}: one worker serves one database",
                    hint="Run a worker for each, or choose one database for all of them: --dsn …",
                )
        return chosen


def register_missing(conn: Connection[Any], dsn: str, commands: Commands, name: str) -> None:
    """Register this command if the database does not have it, as the first enqueue in Python does. Where the user may
    not, the enqueue says so."""
    sender = PsycopgSender(conn)
    if registry.may_register(sender):
        command = commands.get(name)
        made = definition(command, with_project=embedded.is_default(dsn))
        registry.register_commands(sender, [commands.queue_definition(command.options.queue)], [made], overwrite=False)


def find_apps(names: list[str], *, typed: str = "--app") -> Apps:
    """The apps at these ``module:attribute``, or in modules with one app; ``typed`` is what comes before one on the
    command line.

    Raises ``AppNotFound`` for a name that leads to no app, and ``RequestRefused`` for a module that cannot be imported.
    """
    apps: dict[str, App] = {}
    for name in names:
        app = find_app(name, typed=typed)
        if app not in apps.values():
            apps[name if ":" in name else f"{name}:{_name_in(sys.modules[name], app)}"] = app
    return Apps(apps)


def load_apps(names: list[str]) -> Apps:
    """As ``find_apps``, for the option ``--app``: a wrong name is wrong usage."""
    try:
        return find_apps(names)
    except AppNotFound as error:
        raise typer.BadParameter(f"{error}. {error.hint}", param_hint="--app") from error


def find_app(name: str, *, typed: str = "--app") -> App:
    """The app at ``module:attribute``, or that of a module with one app; modules of the current folder are found."""
    if advice.is_path(name):
        raise AppNotFound(f"{name!r} is not MODULE:APP, but a path", hint=advice.type_for_path(name, typed))
    module_name, _, attribute = name.partition(":")
    if not all(part.isidentifier() for part in module_name.split(".")):
        raise AppNotFound(
            f"{name!r} is not MODULE:APP",
            hint=f"Write the module as in an import: {typed} shop.tasks:app for app in shop/tasks.py.",
        )
    module = _load_module(module_name, attribute, typed)
    apps = advice.apps_of(module)
    if name == module_name and len(apps) == 1:
        return next(iter(apps.values()))
    if not attribute:
        raise AppNotFound(f"{name!r} is not MODULE:APP", hint=advice.type_one_of(module, apps, typed))
    loaded = _read(module, attribute)
    if not isinstance(loaded, App):
        what = f"is {a_kind(loaded)}" if loaded is not None else "is not there"
        raise AppNotFound(
            f"{attribute} in {module_name} {what}, expected a catchment.App; {module_name} is {advice.what_is(module)}",
            hint=advice.type_one_of(module, apps, typed),
        )
    return loaded


def _name_in(module: ModuleType, app: App) -> str:
    return next(name for name, other in advice.apps_of(module).items() if other is app)


def _read(module: ModuleType, attribute: str) -> object:
    try:
        return getattr(module, attribute, None)
    except Exception as error:  # of a function __getattr__ of the module
        raise RequestRefused(f"{attribute} of {module.__name__} cannot be read: {said(error)}") from error


def _load(place: str, app: App) -> None:
    """Import the rest of an app, and check that there is something to run."""
    module_name = place.partition(":")[0]
    try:
        app.load()
    except (KeyboardInterrupt, ModuleMissing):
        raise
    except BaseException as error:  # of a module of the user, sys.exit() included
        raise _not_importable(f"a module that imports of {place} names", module_name, error) from error
    if app.commands.is_empty:
        raise RequestRefused(
            f"{place} has no commands: there is nothing to run",
            hint=advice.where_commands_are(sys.modules[module_name], place),
        )


def _load_module(name: str, attribute: str, typed: str) -> ModuleType:
    here = _folder()
    if here is not None and here not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # sys.exit() included
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and f"{name}.".startswith(f"{missing}."):
            also = "" if attribute else f"{name!r} is not MODULE:APP, and "
            raise AppNotFound(
                f"{also}there is no module {missing} in {here or 'this folder, which is gone,'} or on the path",
                hint=advice.type_for_missing(name, typed),
            ) from error
        if name.partition(".lake.")[0] == "catchment" and missing in LAKE.modules:
            raise LAKE.missing(missing) from error
        raise _not_importable(f"module {name}", name, error) from error


def _not_importable(what: str, name: str, error: BaseException) -> RequestRefused:
    place, lines = advice.user_lines(name, error)
    hint = error.hint if isinstance(error, CatchmentError) else None
    return RequestRefused(
        "\n".join([f"{what} cannot be imported: {said(error)}{place}", *lines]),
        hint=hint or f"Correct that line. For the whole traceback: python -c 'import {name}'",
    )


def _folder() -> str | None:
    """The current folder, unless it was removed."""
    try:
        return str(Path.cwd())
    except OSError:
        return None
