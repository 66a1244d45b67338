"""For packages that add commands to ``catchment``: a group that is imported when it is used, and what its verbs share.

The entry point of such a package in the group ``catchment.commands`` names a ``typer.Typer``, whose module is imported
whenever the commands are listed. ``lazy_app`` makes one that imports nothing else.

``Dsn``, ``Json`` and ``Roles`` annotate the parameters that ``--dsn``, ``--json`` and ``--roles`` fill. ``console`` and
``errors`` are Rich consoles on standard output and standard error. A ``CatchmentError`` that a command raises is shown
with its hint, and the exit code is 1.
"""

from typing import TYPE_CHECKING

from catchment.lazy import lazy_names

if TYPE_CHECKING:
    from catchment.commands.group import lazy_app
    from catchment.commands.options import Dsn, Json, Roles
    from catchment.commands.output import console, errors, print_json, print_rows
    from catchment.commands.why import print_conditions
else:
    # A list of commands needs the group alone.
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "Dsn": "options",
            "Json": "options",
            "Roles": "options",
            "console": "output",
            "errors": "output",
            "lazy_app": "group",
            "print_conditions": "why",
            "print_json": "output",
            "print_rows": "output",
        },
    )

__all__ = ["Dsn", "Json", "Roles", "console", "errors", "lazy_app", "print_conditions", "print_json", "print_rows"]
