"""The control schema of the lake: tables, functions and views, as SQL."""

from catchment.model.release import VERSION
from catchment.schema import Schema
from catchment.schema.definition import ENGINE_OWNER

LAKE = Schema(
    name="lake",
    package="catchment.lake.sql",
    owner=ENGINE_OWNER,
    release=VERSION,
    title="Catchment",
    command="catchment migrate",
    version_table="installed",
)
