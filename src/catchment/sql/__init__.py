"""The engine itself, as SQL text."""

from catchment import errors
from catchment.model.release import VERSION
from catchment.schema import Schema
from catchment.schema.definition import ENGINE_OWNER, ENGINE_ROLES, ENGINE_SCHEMA

ENGINE = Schema(
    name=ENGINE_SCHEMA,
    package="catchment.sql",
    owner=ENGINE_OWNER,
    roles=ENGINE_ROLES,
    release=VERSION,
    title="Catchment",
    command="catchment migrate",
    errors={
        **errors.BY_SQLSTATE,
        # JSON text that jsonb cannot hold, a NUL above all.
        "22P05": errors.PayloadRefused,
        "22P02": errors.PayloadRefused,
        # A number, a time or a text that its type cannot hold.
        "22003": errors.RequestRefused,
        "22008": errors.RequestRefused,
        "22021": errors.RequestRefused,
    },
)
