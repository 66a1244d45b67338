"""Names of a package that are imported when they are used::

    if TYPE_CHECKING:
        from shop.stock import Shelf
    else:
        __getattr__, __dir__ = lazy_names(__name__, {"Shelf": "stock"})

Type checkers see plain imports.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from catchment.errors import ExtraMissing


class Extra:
    """A part of the package that is installed by ``pip install 'catchment[name]'``: which sentence says that something
    needs a module, what else can be done, and its modules."""

    def __init__(self, name: str, what: str, modules: tuple[str, ...], *, instead: str = "") -> None:
        self.name = name
        self.what = what
        self.modules = modules
        self.instead = instead

    def check(self) -> None:
        """Raise ``ExtraMissing`` if a module is not installed. None is imported."""
        from importlib.util import find_spec

        for module in self.modules:
            if find_spec(module) is None:
                raise self.missing(module)

    def missing(self, module: str) -> ExtraMissing:
        """The error that says what to install."""
        command = f"un: pip install 'catchment[{self.name}]'"
        remedy = f"{self.instead} or r{command}" if self.instead else f"R{command}"
        error = ExtraMissing(f"{self.what} {module}, which is not installed", hint=remedy)
        error.name = module
        # A traceback shows notes, and no hints.
        error.add_note(remedy)
        return error


def lazy_names(
    package: str, places: Mapping[str, str], extra: Extra | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package: each name with the module of the package that has it.

    Without the modules of ``extra``, a name raises ``ExtraMissing``.
    """
    names = vars(sys.modules[package])

    def find(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            module = import_module(f"{package}.{places[name]}")
        except ModuleNotFoundError as error:
            if extra is None or error.name not in extra.modules:
                raise
            raise extra.missing(error.name) from error
        names[name] = value = getattr(module, name)
        return value

    return find, lambda: sorted({*names, *places})
