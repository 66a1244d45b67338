"""Names of a package that are imported when they are used::

if TYPE_CHECKING:
    from shop.stock import Shelf
else:
    __getattr__, __dir__ = lazy_names(__name__, {"Shelf": "stock"})
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, places: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package: each name with the module of the package that has it."""
    names = vars(sys.modules[package])

    def find(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        names[name] = found = getattr(import_module(f"{package}.{places[name]}"), name)
        return found

    return find, lambda: sorted({*names, *places})
