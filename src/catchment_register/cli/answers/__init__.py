"""What each command of the register prints with ``--json``: one type per command, from which its JSON Schema is made.

Commands do not import this: it is for the reference, and for a test that runs every command.
"""

from __future__ import annotations

from typing import Any

from catchment_register.cli.answers import figures, work
from catchment_register.why import WhyStale

ANSWERS: dict[str, Any] = {
    "register init": work.Ready,
    "register load-codes": work.CodesLoaded,
    "register generate": work.Generated,
    "register import": work.Imported,
    "register derive": work.Derived,
    "register status": work.Status,
    "register why": WhyStale,
    "register search": list[figures.UnitMatch],
    # A list of rows for each statement that returns some: their fields are its columns.
    "register sql": list[list[dict[str, Any]]],
    "register verify": work.Verified,
    "register import-job list": list[work.Job],
    "register import-job show": work.JobShown,
    "register import-job errors": list[work.Problem],
    "register import-job approve": work.Job,
    "register import-job reject": work.Job,
    "register import-job retry": work.Job,
    "register import-job delete": work.JobDeleted,
    "register edit set": work.Edited,
    "register edit end": work.Edited,
    "register edit delete": work.Edited,
    "register edit connect": work.Connected,
    "register edit primary": work.Edited,
    "register edit relate": work.Related,
    "register edit unrelate": work.Related,
    "register report history": list[figures.Period],
    "register report demography": list[figures.Cohort],
    "register report facets": figures.Facets,
    "register report unit": list[figures.UnitRow],
    "register report units": figures.UnitsWritten,
    # Lists with levels have paths.
    "register report codes": list[figures.PathCode] | list[figures.Code],
}
