"""What is to be generated: how many units of each kind, over how long a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from catchment_register.errors import SettingRefused

# The register is looked at some weeks into the year after its last one.
_AFTER = timedelta(days=43)
MOST_YEARS = 60


@dataclass(frozen=True, slots=True)
class Plan:
    """A register to generate. Establishments, informal ones and relationships are shares of the legal units.

    Without ``years`` every unit is valid from ``valid_from`` on. With them, units are founded, change and end during
    that many years from then, and each row has its own period.
    """

    legal_units: int = 1000
    establishments: float = 0.75
    informal: float = 0.02
    relationships: float = 0.01
    years: int = 0
    valid_from: date = date(2026, 1, 1)
    seed: int = 1

    @property
    def has_dates(self) -> bool:
        """Whether rows carry their own periods."""
        return self.years > 0

    @property
    def end(self) -> date:
        """The day after the last one on which anything happens."""
        return self.valid_from.replace(year=self.valid_from.year + self.years)

    @property
    def today(self) -> date:
        """The day to look at it from."""
        return self.end + _AFTER


PROFILES: Mapping[str, Plan] = {
    "national": Plan(legal_units=1_100_000, establishments=0.751),
    "history": Plan(legal_units=110_000, years=10, valid_from=date(2016, 1, 1)),
    "demo": Plan(legal_units=2_000, relationships=0.03, years=5, valid_from=date(2021, 1, 1)),
}


def choose_plan(
    profile: str | None, *, years: int | None = None, valid_from: date | None = None, **chosen: Any
) -> Plan:
    """The plan of a profile, or the usual one, with what was chosen instead (``None``: not chosen).

    Other years without another first day end when the profile's do.
    """
    if profile is not None and profile not in PROFILES:
        raise SettingRefused(f"there is no profile {profile!r}", hint=f"Known are {', '.join(PROFILES)}.")
    plan = PROFILES[profile] if profile is not None else Plan()
    if years is not None:
        if not 0 <= years <= MOST_YEARS:
            raise SettingRefused(f"{years} years cannot be made", hint=f"Choose from 0 to {MOST_YEARS}.")
        plan = replace(plan, years=years, valid_from=plan.end.replace(year=plan.end.year - years))
    plan = replace(plan, **{name: value for name, value in chosen.items() if value is not None})
    if valid_from is not None:
        if (valid_from.month, valid_from.day) != (1, 1) or not 1000 <= valid_from.year <= 9000:
            hint = "Choose the first day of a year from 1000 to 9000."
            raise SettingRefused(f"the register cannot begin on {valid_from}", hint=hint)
        plan = replace(plan, valid_from=valid_from)
    check_plan(plan)
    return plan


def check_plan(plan: Plan) -> None:
    """Refuse what cannot be generated."""
    if plan.legal_units < 1 or plan.legal_units > 50_000_000:
        raise SettingRefused(f"{plan.legal_units} legal units cannot be made", hint="Choose from 1 to 50,000,000.")
    shares = {"establishments": (plan.establishments, 1.0), "informal": (plan.informal, 1.0)}
    for name, (share, most) in (shares | {"relationships": (plan.relationships, 0.1)}).items():
        if not 0 <= share <= most:
            raise SettingRefused(
                f"{name} cannot be {share:g} for each legal unit", hint=f"Choose a share from 0 to {most:g}."
            )
