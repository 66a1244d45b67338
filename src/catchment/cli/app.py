"""Finds the app that an option names."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import typer

from catchment.client.app import App


def load_app(name: str) -> App:
    """The app at ``module:attribute``; modules of the current directory are found."""
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise typer.BadParameter(f"{name!r} is not MODULE:APP, such as shop.tasks:app", param_hint="--app")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not module_name.startswith(error.name):
            raise  # the module is there; something it needs is not
        raise typer.BadParameter(
            f"there is no module {error.name} in {here} or on the path", param_hint="--app"
        ) from error
    found = getattr(module, attribute, None)
    if not isinstance(found, App):
        kind = "nothing" if found is None else f"a {type(found).__name__}"
        raise typer.BadParameter(
            f"{attribute} in {module_name} is {kind}, expected a catchment.App", param_hint="--app"
        )
    return found
