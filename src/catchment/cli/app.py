"""Finds the app that an option names. Its module is the user's: whatever that raises is reported with its line."""

from __future__ import annotations

import importlib
import sys
import sysconfig
import traceback
from pathlib import Path
from types import ModuleType

import typer

import catchment
from catchment.client.app import App
from catchment.commands.group import a_kind, said
from catchment.errors import CatchmentError, RequestRefused
from catchment.lake import EXTRA


def load_app(name: str) -> App:
    """The app at ``module:attribute``; modules of the current directory are found."""
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise typer.BadParameter(f"{name!r} is not MODULE:APP, such as shop.tasks:app", param_hint="--app")
    if "" in module_name.split(".") or "/" in name or "\\" in name:
        raise typer.BadParameter(
            f"{name!r} is not MODULE:APP: write a module as in an import, such as shop.tasks:app for shop/tasks.py",
            param_hint="--app",
        )
    loaded = _load_attribute(module_name, attribute)
    if not isinstance(loaded, App):
        raise typer.BadParameter(
            f"{attribute} in {module_name} is {a_kind(loaded)}, expected a catchment.App", param_hint="--app"
        )
    return loaded


def _load_attribute(module_name: str, attribute: str) -> object:
    module = _load_module(module_name)
    try:
        return getattr(module, attribute, None)
    except Exception as error:  # of a function __getattr__ of the module
        raise RequestRefused(f"{attribute} of {module_name} cannot be read: {said(error)}") from error


def _load_module(name: str) -> ModuleType:
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
            raise typer.BadParameter(
                f"there is no module {missing} in {here or 'this folder, which is gone,'} or on the path",
                param_hint="--app",
            ) from error
        if name.partition(".lake.")[0] == "catchment" and missing in EXTRA.modules:
            raise EXTRA.missing(missing) from error
        hint = error.hint if isinstance(error, CatchmentError) else None
        raise RequestRefused(
            f"module {name} cannot be imported: {said(error)}{_place(name, error)}",
            hint=hint or f"Correct that line. For the whole traceback: python -c 'import {name}'",
        ) from error


def _folder() -> str | None:
    """The current folder, unless it was removed."""
    try:
        return str(Path.cwd())
    except OSError:
        return None


def _place(name: str, error: BaseException) -> str:
    """The deepest line that is the user's: outside of libraries if there is one, else in the package of the app."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f" ({error.filename}, line {error.lineno})"
    libraries = tuple(sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib"))
    ours = str(Path(catchment.__file__).parent)
    place, rank = "", 0
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if file.startswith((ours, "<")):
            continue
        is_in_package = str(frame.f_globals.get("__name__")).partition(".")[0] == name.partition(".")[0]
        this = 2 if not file.startswith(libraries) else int(is_in_package)
        if this >= rank:
            place, rank = f" ({file}, line {line})", this
    return place
