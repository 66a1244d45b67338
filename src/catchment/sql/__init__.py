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
        "CM001": errors.ClaimLost,
        "CM002": errors.UnknownCommand,
        "CM003": errors.UnknownQueue,
        "CM004": errors.PayloadRefused,
        "CM005": errors.ScopeClosed,
        "CM006": errors.TooDeep,
        "CM007": errors.SurfaceClosed,
        "CM008": errors.NotRetryable,
        "CM009": errors.TaskNotFound,
        "CM010": errors.SchemaMismatch,
        "CM011": errors.TaskCancelled,
        "CM012": errors.HandlerMissing,
        "CM013": errors.CommandTaken,
        "CM014": errors.TableRefused,
        "CM015": errors.PublishVetoed,
        "CM016": errors.ScheduleRefused,
        # JSON text that jsonb cannot hold, a NUL above all.
        "22P05": errors.PayloadRefused,
        "22P02": errors.PayloadRefused,
        # A number, a time or a text that its type cannot hold.
        "22003": errors.RequestRefused,
        "22008": errors.RequestRefused,
        "22021": errors.RequestRefused,
    },
)
