"""``catchment migrate``."""

from __future__ import annotations

from catchment.commands.options import Dsn
from catchment.commands.output import console
from catchment.model.release import VERSION
from catchment.store import embedded
from catchment.store.connect import connect_ours, given_dsn
from catchment.store.migrate import migrate as run_migrations


def migrate(dsn: Dsn = None) -> None:
    """Install or upgrade the schema. Safe to run again, and while workers run."""
    with connect_ours(given_dsn(dsn) or embedded.start()) as conn:
        upgrade = run_migrations(conn, on_step=lambda step: console.print(f"  {step}"))
    if upgrade.newer:
        console.print(
            f"The schema was written by a newer version of Catchment ({upgrade.newer}); this one, {VERSION}, "
            "can work with it and has left it as it is."
        )
    elif upgrade.applied or upgrade.routines_changed:
        console.print(f"The schema is up to date ({len(upgrade.applied)} migrations applied).")
    else:
        console.print("The schema was up to date already.")
