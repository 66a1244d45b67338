"""The values that take the place of subqueries: what is computed over their rows, and what an outer row makes of it."""

from __future__ import annotations

from sqlglot import exp

from catchment.lake.query.functions import name_of
from catchment.lake.query.trees import number
from catchment.lake.reasons import NotIncremental, Reason

_ZERO_WHEN_EMPTY = ("count", "count_star")
_NULL_WHEN_EMPTY = frozenset(
    """
    any_value arg_max arg_min avg bit_and bit_or bool_and bool_or corr covar_pop covar_samp first last list max max_by
    mean median min min_by mode product quantile quantile_cont quantile_disc stddev stddev_pop stddev_samp string_agg
    sum var_pop var_samp variance
    """.split()  # noqa: SIM905  # a list of single words would fill a page
)


def some() -> exp.Expr:
    return exp.GT(this=exp.Count(this=exp.Star(), big_int=True), expression=number(0))


def some_null(value: exp.Expr) -> exp.Expr:
    whole, values = exp.Count(this=exp.Star(), big_int=True), exp.Count(this=value, big_int=True)
    return exp.GT(this=whole, expression=values)


def when_empty(call: exp.Expr, value: exp.Expr) -> exp.Expr:
    """The aggregate of an outer row that met no group."""
    while isinstance(call, (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)):
        call = call.this
    if name_of(call) in _ZERO_WHEN_EMPTY:
        return exp.Coalesce(this=value, expressions=[number(0)])
    if name_of(call) not in _NULL_WHEN_EMPTY:
        raise NotIncremental(Reason.SUBQUERY)
    return value


def at_most_one(many: exp.Expr, value: exp.Expr) -> exp.Expr:
    """The value, or an error of the cast: there is no way to raise one that DuckDB would not call volatile."""
    words = exp.Anonymous(
        this="concat",
        expressions=[exp.Literal.string("more than one row came from a subquery that is a value: "), many.copy()],
    )
    fails = exp.Is(this=exp.Cast(this=words, to=exp.DataType.build("INTEGER")), expression=exp.Null())
    failing = exp.Case(ifs=[exp.If(this=fails, true=value.copy())])
    return exp.Case(ifs=[exp.If(this=many, true=failing)], default=value)
