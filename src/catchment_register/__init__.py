"""A statistical business register with its derive pipeline, on Catchment.

Units with validity in time are imported or edited; a pipeline of SQL handlers derives statistical units, their history
and their facets, and keeps them up to date with every change. Use it from the command line::

    catchment register init --country NO --activity-standard nace_v2.1
    catchment register load-codes region regions.csv
    catchment worker

Everything lives in the schema ``register`` of the database; tables and functions there are the interface. This package
only installs them, brings files in and shows what came out.
"""

from typing import TYPE_CHECKING

from catchment.lazy import lazy_names

if TYPE_CHECKING:
    from catchment_register.errors import (
        CodeReserved,
        CodesRefused,
        DeleteRefused,
        EditRefused,
        FileRefused,
        IsolationRefused,
        JobNotFound,
        JobNotReady,
        JobRefused,
        MappingRefused,
        NotCovered,
        OverlapRefused,
        PeriodInvalid,
        PrimaryUndecided,
        RegionRefused,
        RegisterError,
        RegisterMismatch,
        ReportInconsistent,
        ReportRefused,
        RootRefused,
        RoundBroken,
        RoundOpen,
        RowFixed,
        SettingRefused,
        StagingLost,
        StillCovered,
        TruncateRefused,
        TwoPrimaries,
        UnitNotFound,
        UnknownCode,
        ValueRefused,
    )
    from catchment_register.schema import check_version, migrate
    from catchment_register.why import WhyStale, explain

__all__ = [
    "CodeReserved",
    "CodesRefused",
    "DeleteRefused",
    "EditRefused",
    "FileRefused",
    "IsolationRefused",
    "JobNotFound",
    "JobNotReady",
    "JobRefused",
    "MappingRefused",
    "NotCovered",
    "OverlapRefused",
    "PeriodInvalid",
    "PrimaryUndecided",
    "RegionRefused",
    "RegisterError",
    "RegisterMismatch",
    "ReportInconsistent",
    "ReportRefused",
    "RootRefused",
    "RoundBroken",
    "RoundOpen",
    "RowFixed",
    "SettingRefused",
    "StagingLost",
    "StillCovered",
    "TruncateRefused",
    "TwoPrimaries",
    "UnitNotFound",
    "UnknownCode",
    "ValueRefused",
    "WhyStale",
    "check_version",
    "explain",
    "migrate",
]

if not TYPE_CHECKING:
    # The list of commands needs this package without the driver.
    _places = dict.fromkeys(__all__, "errors") | dict.fromkeys(("check_version", "migrate"), "schema")
    _places |= dict.fromkeys(("WhyStale", "explain"), "why")
    __getattr__, __dir__ = lazy_names(__name__, _places)
