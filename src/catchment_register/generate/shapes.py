"""The shape of a register: which legal forms there are, what goes with them, how large units are, what a year changes.

The shares are those of public extracts of the Norwegian register of 2015 to 2018, rounded: four of ten legal units are
sole traders, nearly as many are companies; one of ten has a separate postal address; most employ nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp
from statistics import NormalDist

from catchment_register.generate.mix import spread


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """A legal form: how it is written, its share, what its units do, and the size of those that employ."""

    code: str
    name: str
    share: float
    kind: str
    sectors: Mapping[str, float]
    suffix: str
    employing: float
    typical: float = 3.0
    abroad: float = 0.0


FORMS = (
    Form("ENK", "Sole trader", 40.0, "person", {"8200": 1.0}, "", 0.10, 1.4),
    Form(
        "AS",
        "Limited company",
        38.0,
        "company",
        {"2100": 93, "4900": 4, "4500": 1.5, "1520": 1, "1120": 0.5},
        "AS",
        0.45,
        5.0,
    ),
    Form("FLI", "Association", 10.0, "society", {"7000": 1.0}, "", 0.06, 3.0),
    Form("NUF", "Branch of a foreign company", 3.5, "company", {"2100": 30, "": 70}, "NUF", 0.25, 4.0, 0.6),
    Form("DA", "Partnership", 1.8, "company", {"2300": 1.0}, "DA", 0.35, 3.0),
    Form("SA", "Cooperative", 1.4, "company", {"2100": 1.0}, "SA", 0.30, 6.0),
    Form("ANS", "General partnership", 1.3, "company", {"2300": 1.0}, "ANS", 0.30, 3.0),
    Form("BRL", "Housing cooperative", 1.2, "society", {"8300": 1.0}, "borettslag", 0.08, 2.0),
    Form("STI", "Foundation", 1.0, "society", {"7000": 90, "6500": 10}, "stiftelse", 0.30, 8.0),
    Form("KOMM", "Municipal body", 0.9, "public", {"6500": 1.0}, "", 0.95, 60.0),
    Form("ORGL", "State body", 0.5, "public", {"6100": 1.0}, "", 0.95, 80.0),
    Form("ASA", "Public limited company", 0.4, "company", {"2100": 80, "4900": 20}, "ASA", 0.85, 60.0),
)
SECTOR_ROWS = (
    ("domestic", "Domestic sectors"),
    ("domestic.nonfinancial", "Non-financial corporations"),
    ("domestic.nonfinancial.1120", "Central government enterprises"),
    ("domestic.nonfinancial.1520", "Municipal enterprises"),
    ("domestic.nonfinancial.2100", "Private limited companies"),
    ("domestic.nonfinancial.2300", "Partnerships"),
    ("domestic.financial", "Financial corporations"),
    ("domestic.financial.4500", "Holding companies"),
    ("domestic.financial.4900", "Other financial institutions"),
    ("domestic.government", "General government"),
    ("domestic.government.6100", "Central government"),
    ("domestic.government.6500", "Local government"),
    ("domestic.households", "Households and those who serve them"),
    ("domestic.households.7000", "Non-profit institutions"),
    ("domestic.households.8200", "Self-employed"),
    ("domestic.households.8300", "Housing cooperatives"),
)
FORM_TABLE = spread({form: form.share for form in FORMS})
SECTOR_TABLES = {form.code: spread(form.sectors, 1024) for form in FORMS}
# Sole traders that grow become companies.
AFTER = {"ENK": next(form for form in FORMS if form.code == "AS")}
HOME = "NO"
COUNTRIES = spread({"SE": 30, "DK": 18, "GB": 18, "DE": 10, "PL": 8, "NL": 6, "FI": 5, "US": 3, "LT": 2}, 256)
STATUS_TABLE = spread({"active": 96, "passive": 4}, 256)
DATA_SOURCES = spread({"brreg": 60, "skatt": 30, "survey": 10}, 256)

# Per year and unit, in thousandths.
MOVES = 40
TAKES_OTHER_ACTIVITY = 15
TAKES_OTHER_NAME = 20
TAKES_OTHER_FORM = 3
RESIZES = 400
DIES = 30
CLOSES = 15
CHANGES_HANDS = 2
OLDEST_YEARS = 40
# Mean of extra_establishments over all units, and the share of units that employ anybody.
MEAN_EXTRA = 0.042
EMPLOYING = sum(form.share * form.employing for form in FORMS) / sum(form.share for form in FORMS)
# Units are founded so that a fourteenth of them is younger than a year.
AGE_POWER = 1.4

# Turnover per head, in thousands, by rank.
TURNOVER = tuple(round(900 * exp(0.7 * NormalDist().inv_cdf((rank + 0.5) / 1024))) for rank in range(1024))
QUANTILES = 4096
# Logarithms of sizes spread by 1.3, which puts one employing company of a hundred above a hundred employees.
_SPREAD = 1.3


def _employees(form: Form) -> tuple[int, ...]:
    """Number of employees by the rank of a unit: none for most, then log-normal around the typical size."""
    normal = NormalDist()
    idle = round(QUANTILES * (1 - form.employing))
    sizes = [0] * idle
    for rank in range(QUANTILES - idle):
        size = form.typical * exp(_SPREAD * normal.inv_cdf((rank + 0.5) / (QUANTILES - idle)))
        sizes.append(max(1, min(round(size), 20_000)))
    return tuple(sizes)


EMPLOYEES = {form.code: _employees(form) for form in FORMS}


def unit_size(employees: int) -> str:
    if employees < 10:
        return "tny"
    return "sml" if employees < 50 else "med" if employees < 250 else "lrg"


def extra_establishments(employees: int, rank: int) -> int:
    """How many establishments a unit has beyond its first, by its size and a rank among 1,024.

    A twelfth of the small ones has a second; a third of the large ones has more, up to one for every eight employees.
    """
    if employees < 40:
        return 1 if employees > 0 and rank < 85 else 0
    return min(499, employees // 8, 340 // (rank + 1))
