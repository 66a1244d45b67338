"""Rounds that overlap: refreshes are asked for, begun, carried out and cancelled, and definitions are replaced, in any
order, while the sources change. Nobody waits for a round to end.

After each refresh every table has to be what the definition in force gives at the table's own data snapshot; in the
end, when nothing waits any more, what the text of its definition gives. No refresh ends without having done what it was
asked for, except by a cancel: what meets a definition that was replaced continues in another round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import duckdb

from catchment.errors import TableRefused
from catchment.lake.names import quoted
from catchment.lake.query.ddl import parse_statements
from catchment.lake.tables.lifecycle import create
from catchment.lake.types import Order
from tests.lake.fuzz.together import Together

READY = "select id from lake.refresh where finished_at is null and task_id is not null order by id"
WAITING = "select count(*) from lake.refresh where finished_at is null and task_id is null"
LOST = """
select r.id, d.name, r.state, r.error_text
  from lake.refresh as r
  join lake.dt as d on d.id = r.dt_id
 where r.state = 'FAILED'
    or r.state = 'UPSTREAM_FAILED' and not %s
    or r.error_text like 'a table above%%'
"""
# The rows of the first definition, or some of them, or each twice: what reads the table finds its columns.
VARIANTS = (
    "FROM ({query})",
    "SELECT DISTINCT * FROM ({query})",
    "FROM ({query}) UNION ALL FROM ({query})",
    "FROM ({query}) EXCEPT ALL SELECT DISTINCT * FROM ({query})",
)


@dataclass
class Overlapping(Together):
    """``Together``, one step at a time. ``waited`` counts definitions that could not be filled at once."""

    first: dict[str, str] = field(default_factory=dict)
    offered: dict[int, tuple[str, str]] = field(default_factory=dict)
    held: list[Order] = field(default_factory=list)
    waited: int = 0
    is_cancelled: bool = False

    def play(self, rounds: int) -> None:
        """Take this number of steps; then finish what is under way, and refresh all tables in a round."""
        self.refresh_all(by_buckets=False)
        self.first = dict(self.queries)
        steps: list[Callable[[], object]] = [self.edit, self.ask, self.begin, self.finish, self.replace, self.cancel]
        for _ in range(rounds):
            step = self.random.choices(steps, [6, 6, 4, 8, 3, 1])[0]
            self.statements.append(f"-- {step.__name__}")
            step()
        while self.begin() or self.finish():
            pass
        assert self.case.pg(WAITING) == [(0,)]
        assert self.case.pg(LOST, self.is_cancelled) == [], f"seed {self.seed}"
        self.edit()
        self.refresh_all(by_buckets=False)

    def ask(self) -> None:
        """A round of one table or two."""
        names = self.random.sample(list(self.queries), min(len(self.queries), self.random.choice([1, 1, 2])))
        self.case.control.request_round([self.case.find(name) for name in names])

    def begin(self) -> bool:
        """A worker takes a refresh, and holds it until it goes on; False if none is ready."""
        mine = {order.refresh_id for order in self.held}
        ready = [refresh_id for (refresh_id,) in self.case.pg(READY) if refresh_id not in mine]
        if ready:
            order = self.case.take(self.random.choice(ready))
            self.held += [order] if order is not None else []
        return bool(ready)

    def finish(self) -> bool:
        """A worker that holds a refresh carries it out, unless that has ended meanwhile; False if nobody does."""
        if not self.held:
            return False
        order = self.held.pop(self.random.randrange(len(self.held)))
        self.statements.append(f"-- {order.definition.ref.name} at {order.data_snapshot}")
        try:
            self.case.carry_out(order, lake_small_ms=0)
        except Exception as error:
            if self.case.refreshed(order.refresh_id)["state"] not in ("CANCELLED", "SKIPPED"):
                raise AssertionError(f"seed {self.seed}: {error}\n{self.text(order.definition.ref.name)}") from error
        state = self.case.refreshed(order.refresh_id)["state"]
        self.done[f"{state} for {order.trigger}"] += 1
        if state == "SUCCEEDED" and order.dt_id in self.offered:
            name, query = self.offered.pop(order.dt_id)
            self.queries[name] = query
        self.check()
        return True

    def check(self) -> None:
        for name in self.queries:
            try:
                self.case.check(name)
            except Exception as error:
                raise AssertionError(f"seed {self.seed}, {name}: {error}\n{self.text(name)}") from error

    def replace(self) -> None:
        """Offer another definition of a table; it takes its place once a worker has filled it."""
        name = self.random.choice(list(self.queries))
        query = self.random.choice(VARIANTS).format(query=self.first[name])
        (definition,) = parse_statements(
            f"CREATE OR REPLACE DYNAMIC TABLE {quoted(name)} TARGET_LAG = DOWNSTREAM REFRESH_MODE = AUTO AS {query}"
        )
        try:
            self.case.sql(query)
            made = create(self.case.duck, self.case.control, definition)
        except (duckdb.Error, TableRefused):
            return
        if made.replaces is None:
            return
        self.case.control.request_round([made.dt_id], "create")
        self.statements.append(f"-- {name} is to be\n{query}")
        self.offered[made.dt_id] = (name, query)
        self.waited += self.case.pg(
            "select task_id is null from lake.refresh where dt_id = %s and finished_at is null", made.dt_id
        ) == [(True,)]

    def cancel(self) -> None:
        self.is_cancelled = True
        self.case.control.cancel_refreshes(self.case.find(self.random.choice(list(self.queries))), "by the fuzz")
