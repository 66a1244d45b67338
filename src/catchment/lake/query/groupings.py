"""GROUPING SETS, ROLLUP and CUBE as a union of groups: one SELECT for each set.

In the SELECT of a set, the keys that are not in it are NULL outside of aggregates, and GROUPING is a number. The empty
set is one group over all rows, which is there even when they are none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product

from sqlglot import exp

from catchment.lake.query.functions import Kinds, name_of
from catchment.lake.query.levels import GROUPINGS, group_keys, is_call
from catchment.lake.query.trees import cast, number, part, text
from catchment.lake.reasons import NotIncremental, Reason

MOST_SETS = 32
"""More sets than this are computed as a whole: each is a separate query."""

_SETS = (exp.GroupingSets, exp.Rollup, exp.Cube)


def has_sets(tree: exp.Select) -> bool:
    """Whether rows of a SELECT are put into several groups each, or into the empty set by name."""
    group = part(tree, "group")
    return group is not None and any(
        isinstance(item, _SETS) or (isinstance(item, exp.Tuple) and not item.expressions) for item in group.expressions
    )


def keys_of(tree: exp.Select) -> dict[str, exp.Expr]:
    """The keys of all sets, by their text."""
    return {text(key): key for item in tree.args["group"].expressions for key in group_keys(item)}


def spread(tree: exp.Select, types: Mapping[str, str], kinds: Kinds) -> list[exp.Select]:
    """One SELECT for each set; ``types`` are the types of the keys, by their text."""
    if any(isinstance(key, (exp.Literal, exp.Null, exp.Boolean)) for key in keys_of(tree).values()):
        raise NotIncremental(Reason.GROUPING_SETS)
    choices = [_sets(item) for item in tree.args["group"].expressions]
    sets = [[key for chosen in combined for key in chosen] for combined in product(*choices)]
    if len(sets) > MOST_SETS:
        raise NotIncremental(Reason.GROUPING_SETS)
    return [_Set(tree, keys, types, kinds).made() for keys in sets]


def _sets(item: exp.Expr) -> list[list[exp.Expr]]:
    """The sets that an item of GROUP BY stands for, each a list of keys."""
    inner = item.unnest()
    members = [group_keys(each) for each in inner.expressions] if isinstance(inner, (exp.Rollup, exp.Cube)) else []
    if isinstance(inner, exp.Rollup):
        return [_joined(members[:length]) for length in range(len(members), -1, -1)]
    if isinstance(inner, exp.Cube):
        sizes = range(len(members), -1, -1)
        return [_joined(chosen) for size in sizes for chosen in combinations(members, size)]
    if isinstance(inner, exp.GroupingSets):
        return [one for each in inner.expressions for one in _sets(each)]
    return [group_keys(inner)]


def _joined(members: Sequence[Sequence[exp.Expr]]) -> list[exp.Expr]:
    return [key for member in members for key in member]


class _Set:
    def __init__(self, tree: exp.Select, keys: Sequence[exp.Expr], types: Mapping[str, str], kinds: Kinds) -> None:
        self.tree = tree
        self.keys = {text(key): key for key in keys}
        self.types = types
        self.kinds = kinds

    def made(self) -> exp.Select:
        branch = self.tree.copy()
        for name in ("expressions", "having"):
            for item in branch.expressions if name == "expressions" else [part(branch, name)]:
                if item is not None:
                    self._exchange(item)
        branch.set("group", exp.Group(expressions=[key.copy() for key in self.keys.values()]) if self.keys else None)
        if not self.keys:
            self._keep_global(branch)
        return branch

    def _keep_global(self, branch: exp.Select) -> None:
        """A SELECT without any aggregate would give one row for each source row."""
        there = exp.GTE(this=exp.Count(this=exp.Star(), big_int=True), expression=number(0))
        having = part(branch, "having")
        condition = exp.and_(having.this, there) if having is not None else there
        branch.set("having", exp.Having(this=condition))

    def _exchange(self, node: exp.Expr) -> None:
        sql = text(node)
        if sql in self.types:
            if sql not in self.keys:
                node.replace(cast(exp.Null(), self.types[sql]))
            return
        if isinstance(node, exp.Func) and name_of(node) in GROUPINGS:
            node.replace(cast(number(self._grouping(node)), "BIGINT"))
            return
        if not is_call(node, self.kinds):
            for child in list(node.iter_expressions()):
                self._exchange(child)

    def _grouping(self, node: exp.Expr) -> int:
        """One bit for each argument, the last one lowest: set where it is no key of this set."""
        bits = 0
        for argument in node.expressions:
            bits = 2 * bits + (text(argument) not in self.keys)
        return bits
