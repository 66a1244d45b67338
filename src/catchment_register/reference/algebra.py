"""Statistics of a set of units: exact sums while they are put together, rounded figures at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Any

# More digits than any figure has, so that only the last step rounds.
_WIDE = Context(prec=120)


@dataclass(frozen=True, slots=True)
class Variable:
    """A statistical variable: its code, and ``int``, ``float``, ``string`` or ``bool``."""

    code: str
    type: str


@dataclass(frozen=True, slots=True)
class Moment:
    """Numbers: how many, their sum, the sum of their squares, the smallest and the largest."""

    n: int
    total: Fraction
    squares: Fraction
    least: Fraction
    most: Fraction

    def __add__(self, other: Moment) -> Moment:
        return Moment(
            self.n + other.n,
            self.total + other.total,
            self.squares + other.squares,
            min(self.least, other.least),
            max(self.most, other.most),
        )


Summary = Mapping[Variable, "Moment | Counter[str]"]


def number(value: float | Decimal) -> Fraction:
    """A value as an exact number. Of a float the 15 digits count that every float holds."""
    return Fraction(Decimal(f"{value:.15g}")) if isinstance(value, float) else Fraction(value)


def lift(variable: Variable, value: Any) -> Summary:
    """The statistics of a single value."""
    match variable.type:
        case "int" | "float":
            exact = number(value)
            return {variable: Moment(1, exact, exact * exact, exact, exact)}
        case "string":
            return {variable: Counter([str(value)])}
        case "bool":
            return {variable: Counter(["true" if value else "false"])}
        case other:
            raise AssertionError(f"a variable of type {other}")


def merge(summaries: Iterable[Summary]) -> Summary:
    """The statistics of all of them together."""
    merged: dict[Variable, Moment | Counter[str]] = {}
    for summary in summaries:
        for variable, figures in summary.items():
            known = merged.get(variable)
            if isinstance(figures, Moment):
                merged[variable] = known + figures if isinstance(known, Moment) else figures
            else:
                merged[variable] = (known if isinstance(known, Counter) else Counter()) + figures
    return merged


def shown(summary: Summary) -> dict[str, dict[str, Any]]:
    """As ``stats_summary`` shows it: by code, rounded to two decimals."""
    return {
        variable.code: _figures(variable.type, figures)
        if isinstance(figures, Moment)
        else {"type": variable.type, "counts": dict(figures)}
        for variable, figures in summary.items()
    }


def _figures(kind: str, moment: Moment) -> dict[str, Any]:
    mean = moment.total / moment.n
    deviations = moment.squares - moment.total * mean
    variance = deviations / (moment.n - 1) if moment.n > 1 else None
    stddev = None if variance is None else _WIDE.sqrt(_decimal(variance))
    spread = None if stddev is None or mean == 0 else _WIDE.divide(_WIDE.multiply(stddev, Decimal(100)), _decimal(mean))
    return {
        "type": kind,
        "count": moment.n,
        "sum": _rounded(_decimal(moment.total)),
        "min": _rounded(_decimal(moment.least)),
        "max": _rounded(_decimal(moment.most)),
        "mean": _rounded(_decimal(mean)),
        "sum_sq_diff": _rounded(_decimal(deviations)),
        "variance": None if variance is None else _rounded(_decimal(variance)),
        "stddev": None if stddev is None else _rounded(stddev),
        "coefficient_of_variation_pct": None if spread is None else _rounded(spread),
    }


def _decimal(value: Fraction) -> Decimal:
    return _WIDE.divide(Decimal(value.numerator), Decimal(value.denominator))


def _rounded(value: Decimal) -> Decimal:
    """To two decimals, halves away from zero, as PostgreSQL does."""
    return value.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP, context=_WIDE)
