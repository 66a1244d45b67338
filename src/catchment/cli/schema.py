"""``catchment migrate``."""

from __future__ import annotations

from catchment.cli.database import Dsn
from catchment.cli.output import console
from catchment.store.connect import connect, find_dsn
from catchment.store.migrate import migrate as run_migrations


def migrate(dsn: Dsn = None) -> None:
    """Install or upgrade the schema. Safe to run again, and while workers run."""
    with connect(find_dsn(dsn)) as conn:
        upgrade = run_migrations(conn, on_step=lambda step: console.print(f"  {step}"))
    if upgrade.applied or upgrade.routines_changed:
        console.print(f"The schema is up to date ({len(upgrade.applied)} migrations applied).")
    else:
        console.print("The schema was up to date already.")
