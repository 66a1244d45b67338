"""A statistical business register with its derive pipeline, on Catchment.

Units with validity in time are imported or edited; a pipeline of SQL handlers derives statistical units, their history
and their facets, and keeps them up to date with every change. Use it from the command line::

    catchment register init --country NO --activity-standard nace_v2.1
    catchment register load-codes region regions.csv
    catchment worker

Everything lives in the schema ``register`` of the database; tables and functions there are the interface. This package
only installs them, brings files in and shows what came out.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from catchment_register.errors import (
        CodesRefused,
        DeleteRefused,
        FileRefused,
        IsolationRefused,
        JobRefused,
        MappingRefused,
        NotCovered,
        OverlapRefused,
        RegisterError,
        RegisterMismatch,
        ReportRefused,
        RoundBroken,
        SettingRefused,
        StagingLost,
        StillCovered,
        TwoPrimaries,
        UnknownCode,
    )
    from catchment_register.schema.migrate import check_version, migrate

__all__ = [
    "CodesRefused",
    "DeleteRefused",
    "FileRefused",
    "IsolationRefused",
    "JobRefused",
    "MappingRefused",
    "NotCovered",
    "OverlapRefused",
    "RegisterError",
    "RegisterMismatch",
    "ReportRefused",
    "RoundBroken",
    "SettingRefused",
    "StagingLost",
    "StillCovered",
    "TwoPrimaries",
    "UnknownCode",
    "check_version",
    "migrate",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for: the list of commands needs this package without the driver."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    place = "schema.migrate" if name in ("check_version", "migrate") else "errors"
    found = getattr(import_module(f"{__name__}.{place}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
