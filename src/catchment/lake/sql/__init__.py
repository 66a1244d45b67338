"""The control schema of the lake: tables, functions and views, as SQL."""

from catchment.model.release import VERSION
from catchment.schema import Schema

LAKE = Schema(
    name="lake",
    package="catchment.lake.sql",
    owner="catchment_owner",
    release=VERSION,
    title="Catchment",
    command="catchment migrate",
    version_table="installed",
)
