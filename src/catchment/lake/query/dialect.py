"""DuckDB's SQL as it was written: functions keep their names instead of being translated.

The parser knows what many functions mean and writes them back in a form that it believes equal, sometimes wrongly:
``s ~ 'a'`` is a match of the whole text in DuckDB and came back as one of a part. ``faithful`` checks the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, cast

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

AGGREGATES = frozenset(
    """
    any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null arg_min arg_min_null
    argmax argmin array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count count_if countif covar_pop covar_samp
    entropy favg first fsum group_concat histogram kurtosis last list listagg mad max max_by mean median min min_by mode
    product quantile quantile_cont quantile_disc regr_count regr_slope skewness stddev stddev_pop stddev_samp string_agg
    sum var_pop var_samp variance first_value last_value nth_value lag lead
    """.split()  # noqa: SIM905  # a list of single words would fill a page
)
"""Names that the parser has to know as aggregates or windows, so that it tells an alias from a column beside them."""

_SYNTAX = ("CAST", "TRY_CAST", "EXTRACT", "TRIM", "POSITION", "SUBSTRING", "OVERLAY")


def _keep(name: str) -> Callable[[list[exp.Expr]], exp.Expr]:
    return lambda arguments: exp.AnonymousAggFunc(this=name, expressions=arguments)


def _full_match(generator: DuckDB.Generator, node: exp.RegexpLike) -> str:
    return generator.func("REGEXP_FULL_MATCH", node.this, node.expression)


def _within_group(generator: DuckDB.Generator, node: exp.WithinGroup) -> str:
    return f"{generator.sql(node, 'this')} WITHIN GROUP ({generator.sql(node, 'expression').strip()})"


def _power(generator: DuckDB.Generator, node: exp.Pow) -> str:
    return generator.binary(node, "**")


_KNOWN = cast("dict[str, Any]", DuckDB.Parser.FUNCTION_PARSERS)  # pyright: ignore[reportUnknownMemberType]  # untyped there


class Written(exp.Expression, exp.Query):  # pyright: ignore[reportPrivateImportUsage]  # every node is one
    """A whole query as a text that is DuckDB's alone; nothing inside it is a tree."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


def _written(_: DuckDB.Generator, node: Written) -> str:
    return node.name


class Verbatim(DuckDB):
    """DuckDB, with functions kept by their names."""

    class Parser(DuckDB.Parser):
        FUNCTIONS: ClassVar[dict[str, Any]] = {name.upper(): _keep(name) for name in AGGREGATES}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {name: _KNOWN[name] for name in _SYNTAX}

    class Generator(DuckDB.Generator):
        MULTI_ARG_DISTINCT = True
        IGNORE_RESPECT_NULLS_WINDOW_FUNCTIONS: ClassVar[Any] = (exp.AnonymousAggFunc, exp.Anonymous)
        TRANSFORMS: ClassVar[dict[Any, Any]] = {
            **DuckDB.Generator.TRANSFORMS,
            exp.RegexpLike: _full_match,
            exp.Pow: _power,
            exp.WithinGroup: _within_group,
            Written: _written,
        }

        def join_sql(self, expression: exp.Join, join_op: str | None = None) -> str:
            """``FROM t, unnest(…)`` keeps its comma; DuckDB's writer would make a JOIN with a condition of it."""
            is_comma = not any(expression.args.get(part) for part in ("kind", "side", "method", "on", "using"))
            if is_comma and isinstance(expression.this, exp.Unnest):
                return f", {self.sql(expression.this)}"
            return super().join_sql(expression, join_op=join_op)
