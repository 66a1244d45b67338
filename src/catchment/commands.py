"""Groups of commands that are imported when they are used. To list them, or to run one of them, imports no other.

For ``catchment`` itself and for packages that add commands to it. Their entry point in the group
``catchment.commands`` names a ``typer.Typer``, whose module is imported whenever the commands are listed::

    app = lazy_app("shop", "Look after the shop.", {"count": ("shop.cli.count:count", "Count what is in stock.")})
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

Places = Mapping[str, tuple[str, str]]


class LazyCommand(TyperCommand):
    """A name and a line of help, until it is used: then the function or the ``typer.Typer`` at ``module:attribute``."""

    def __init__(self, name: str, place: str, line: str) -> None:
        super().__init__(name, help=line)
        self._title = name
        self._place = place

    def load(self) -> Any:
        """Import the command."""
        module, _, attribute = self._place.partition(":")
        found = getattr(import_module(module), attribute)
        outer = typer.Typer(add_completion=False)
        if isinstance(found, typer.Typer):
            outer.add_typer(found, name=self._title)
        else:
            outer.command(self._title)(found)
        return typer.main.get_group(outer).commands[self._title]

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        return self.load().make_context(info_name, args, parent, **extra)


class LazyGroup(TyperGroup):
    """The commands that were added, and those of ``places``, in this order."""

    places: ClassVar[Places] = {}

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, (place, line) in self.places.items():
            self.add_command(LazyCommand(name, place, line))


def lazy_app(name: str, text: str, places: Places, *, group: type[LazyGroup] = LazyGroup) -> typer.Typer:
    """A group of commands: each by its name, with where it is (``module:attribute``) and the first paragraph of its
    help. ``text`` is the help of the group."""
    return typer.Typer(
        name=name,
        cls=type(group.__name__, (group,), {"places": places}),
        # Makes it a group to typer, which knows of no command yet.
        callback=lambda: None,
        help=text,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
