"""The engine itself, as SQL text."""

from catchment import errors
from catchment.model.release import VERSION
from catchment.schema import Schema

ENGINE = Schema(
    name="worker",
    package="catchment.sql",
    owner="catchment_owner",
    # Workers may also make tasks.
    roles={"catchment_worker": ["catchment_enqueue"], "catchment_enqueue": [], "catchment_read": []},
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
