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

from catchment.extras import Extra


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
            missing = (error.name or "").partition(".")[0]
            if extra is None or missing not in extra.modules:
                raise
            raise extra.missing(missing) from error
        names[name] = value = getattr(module, name)
        return value

    return find, lambda: sorted({*names, *places})
