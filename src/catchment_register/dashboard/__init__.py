"""The screens of the register, which the dashboard of Catchment finds through an entry point."""

from __future__ import annotations

from catchment.dashboard import Plugin
from catchment_register.dashboard import overview, unit, units, why
from catchment_register.dashboard.demography import demography
from catchment_register.dashboard.shown import unit_name
from catchment_register.dashboard.timeline import timeline

PLUGIN = Plugin(
    name="register",
    package="catchment_register.dashboard",
    screens=(overview.SCREEN, units.SCREEN, unit.SCREEN, why.SCREEN),
    schema="register",
    absent="there is no register in this database",
    hint="Install one: catchment register init",
    role="register_read",
    functions={"demography": demography, "timeline": timeline, "unit_name": unit_name},
    channels=("register_round", "worker_status"),
)
