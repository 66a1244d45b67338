"""Modules in which further commands of an app live: imported when a worker or a registration needs all of them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast

from catchment.errors import DefinitionRefused, shown


class ModuleMissing(DefinitionRefused):
    """There is no module of a name that ``imports`` has."""


class Imports:
    """Raises ``DefinitionRefused`` for anything but names of modules, written in full."""

    def __init__(self, modules: Iterable[str]) -> None:
        self._names = _checked(modules)

    def load(self) -> None:
        """Import the modules, each once. What a module raises while it is imported leaves this as it is."""
        for name in self._names:
            if name in sys.modules or _is_main(name):
                continue
            try:
                import_module(name)
            except ModuleNotFoundError as error:
                if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                    raise
                raise ModuleMissing(
                    f"imports of an App names the module {name}, and there is no module {error.name}",
                    hint="Correct the name, as in an import statement, or start in the folder that has the module.",
                ) from error


def _checked(modules: Any) -> tuple[str, ...]:
    expected = "expected a list of modules, such as imports=['shop.mail', 'shop.stock']"
    if isinstance(modules, str | Mapping) or not isinstance(modules, Iterable):
        raise DefinitionRefused(f"imports of an App is {shown(cast('object', modules))}, {expected}")
    names = tuple(cast("Iterable[Any]", modules))
    for name in names:
        if not isinstance(name, str) or not all(part.isidentifier() for part in name.split(".")):
            raise DefinitionRefused(f"imports of an App has {shown(name)}, {expected}")
    return names


def _is_main(name: str) -> bool:
    """Is this the module that runs as the program? Imported again, it would define its commands twice."""
    main: Any = sys.modules.get("__main__")
    if getattr(main, "__spec__", None) is not None:
        return main.__spec__.name == name
    file = getattr(main, "__file__", None)
    if file is None:
        return False
    try:
        spec = find_spec(name)
    except ImportError:
        return False
    return spec is not None and spec.origin == file
