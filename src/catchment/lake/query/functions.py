"""What the functions of a definition mean for keeping it up to date: aggregates, clocks, dice, order of arrival.

DuckDB knows which functions are aggregates and which are volatile; the lists here are what it does not tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import sqlglot
from sqlglot import TokenType, exp

from catchment.lake.query.trees import DIALECT, own_nodes, text
from catchment.lake.reasons import Reason

Kinds = Mapping[str, str]
"""The kind of each function that occurs, by name in lower case."""


def _words(text_of_words: str) -> frozenset[str]:
    return frozenset(text_of_words.split())


CLOCKS = _words("""
    now today current_date current_time current_timestamp localtime localtimestamp current_localtime
    current_localtimestamp get_current_time get_current_timestamp transaction_timestamp
""")
_SESSION = _words("""
    current_user user session_user current_role current_connection_id getenv txid_current pg_backend_pid
""")
_UNDECIDED = _words("mode")
_ORDERED_AGGREGATES = _UNDECIDED | _words("""
    first last any_value arbitrary list array_agg string_agg group_concat listagg approx_count_distinct approx_quantile
    approx_top_k reservoir_quantile json_group_array json_group_object json_group_structure
""")
_ORDERED_WINDOWS = _words("row_number ntile lag lead first_value last_value nth_value fill")
_AGGREGATE_MACROS = _words("""
    geomean geometric_mean weighted_avg wavg json_group_array json_group_object json_group_structure percentile_cont
    percentile_disc
""")
ROW_MAKERS = _words("unnest generate_subscripts explode")
"""Functions that make several rows of one where they stand among the outputs."""
GRAMMAR = _words("""
    all and any as case cast coalesce decimal distinct else except exists from having in intersect lateral not nullif on
    or qualify select then union using values when where with
""")
"""Words before a parenthesis that DuckDB itself reads, unless they are quoted: no function of a user can have them."""


def names_in(tree: exp.Expr) -> frozenset[str]:
    """Every word of the query that may be a function, in lower case."""
    tokens = sqlglot.tokenize(text(tree), read=DIALECT)
    called = {
        token.text.lower()
        for token, following in zip(tokens, [*tokens[1:], None], strict=True)
        if following is not None and following.token_type == TokenType.L_PAREN
        if token.token_type == TokenType.IDENTIFIER or token.text.lower() not in GRAMMAR
    }
    plain = {token.text.lower() for token in tokens if token.token_type not in (TokenType.IDENTIFIER, TokenType.STRING)}
    return frozenset(called | (plain & (CLOCKS | _SESSION)))


def name_of(node: exp.Expr) -> str:
    """The name of a function node as DuckDB sees it, in lower case. Operators are such nodes too, AND and OR among
    them: they are written with their left side first, which may itself begin with a call."""
    if isinstance(node, (exp.Anonymous, exp.AnonymousAggFunc)):
        return node.name.lower()
    if isinstance(node, exp.Connector):
        return node.key
    written, left = text(node), node.args.get("this")
    start = text(left) if isinstance(left, exp.Expr) else written
    if written.startswith(start) and written[len(start) :][:1] not in ("", "("):
        return node.key
    return written.split("(", 1)[0].strip().lower()


def reasons(tree: exp.Expr, kinds: Kinds) -> Iterator[Reason]:
    """Why functions of the tree ask for a full refresh. Those that also need it without a change come first."""
    names = names_in(tree)
    if any(kinds.get(name) == "VOLATILE" for name in names) or names & _SESSION:
        yield Reason.VOLATILE_FUNCTION
    if names & CLOCKS or any(kinds.get(name) == "CONSISTENT_WITHIN_QUERY" for name in names) or _has_open_age(tree):
        yield Reason.TIME_DEPENDENT
    if any(kinds.get(name) == "MACRO" for name in names):
        yield Reason.UNTRACKED_SOURCE
    if "columns" in names:
        yield Reason.UNRESOLVED
    if any(_depends_on_order(node, kinds) for node in tree.find_all(exp.Func, exp.Window)):
        yield Reason.ORDER_DEPENDENT


def is_aggregate(node: exp.Expr, kinds: Kinds) -> bool:
    """Whether a node is a call of an aggregate function that is not used as a window."""
    return _is_aggregate_function(node, kinds) and window_of(node) is None


def aggregates_in(tree: exp.Expr, kinds: Kinds) -> list[exp.Expr]:
    """The aggregate calls of a tree, not those of queries inside it."""
    return [node for node in own_nodes(tree, exp.Func) if is_aggregate(node, kinds)]


def window_of(node: exp.Expr) -> exp.Window | None:
    """The window of which this call is the function, if it is one."""
    child: exp.Expr = node
    while isinstance(child.parent, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)):
        if child.arg_key != "this":
            return None
        child = child.parent
    parent = child.parent
    return parent if isinstance(parent, exp.Window) and child.arg_key == "this" else None


def _is_aggregate_function(node: exp.Expr, kinds: Kinds) -> bool:
    if not isinstance(node, exp.Func):
        return False
    name = name_of(node)
    return kinds.get(name) == "AGGREGATE" or name in _AGGREGATE_MACROS


def _depends_on_order(node: exp.Expr, kinds: Kinds) -> bool:
    if isinstance(node, exp.Window):
        name = name_of(node.this.find(exp.Func) or node.this)
        is_unordered = not node.args.get("order")
        return is_unordered and (name in _ORDERED_WINDOWS or name in _ORDERED_AGGREGATES)
    if not is_aggregate(node, kinds) or name_of(node) not in _ORDERED_AGGREGATES:
        return False
    return name_of(node) in _UNDECIDED or node.find(exp.Order) is None


def _has_open_age(tree: exp.Expr) -> bool:
    """``age(x)`` counts from today, ``age(x, y)`` does not."""
    calls = (node for node in tree.find_all(exp.Func) if name_of(node) == "age")
    return any(len(node.expressions) == 1 for node in calls)
