"""One refresh in the DuckDB of this process: its plan, its sources at their versions, and its temporary tables.

Everything a refresh reads is pinned: sources at the snapshots that the order names, the stored table at the snapshot
that was the newest when the refresh began. Nothing of it survives ``Work``, however the refresh ends.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Literal

from psycopg import Connection

from catchment.errors import LakeError, SourceChanged
from catchment.lake.delta.analyse import analyse
from catchment.lake.delta.layout import Layout
from catchment.lake.delta.plan import Plan
from catchment.lake.delta.relation import Table
from catchment.lake.duck import catalog
from catchment.lake.duck.duck import Duck, Stop
from catchment.lake.duck.schema_view import LakeView
from catchment.lake.names import RID, lake_name, literal, quoted
from catchment.lake.query import clock
from catchment.lake.query.recorded import Answers, Recording
from catchment.lake.query.resolve import SchemaView
from catchment.lake.reasons import Reason
from catchment.lake.types import Column, Order, Read, SourceTable

Kind = Literal["TABLE", "VIEW"]

_TOKEN = re.compile(
    r"""'(?:[^']|'')*'"""
    r"""|(?P<before>\b(?:FROM|JOIN)\b[\s(]*)(?P<quote>"?)(?P<name>\w+)(?P=quote)(?![\w".])(?P<alias> AS )?"""
    r"""|(?P<comma>,[\s(]*)(?P<other>o\d+_new)(?= AS )"""
    r"""|"(?:[^"]|"")*\""""
)
"""Where a statement names a table; and texts and names, in which it does not. After a comma only DuckDB's own text
names one, without quotes."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A table of the plan and what the order says about it. The two ids differ when a table was replaced by another of
    its name."""

    table: Table
    read: Read

    @property
    def is_replaced(self) -> bool:
        return self.table.table.table_id != self.read.table_id


def plan_of(duck: Duck, conn: Connection[Any], order: Order) -> Plan:
    """The plan of a refresh: see ``recorded_plan``."""
    return recorded_plan(duck, conn, order)[0]


def recorded_plan(duck: Duck, conn: Connection[Any], order: Order) -> tuple[Plan, Answers]:
    """The plan of a refresh, over the tables as they are at the snapshots it reads, and what it was made from.

    Raises ``SourceChanged`` when a source or a used column is gone, or when the result no longer fits the columns of
    the stored table; ``TableRefused`` when the definition has become invalid in another way.
    """
    sources = find_sources(conn, order)
    key = (order.dt_id, order.generation, order.definition, str(order.layout), _shapes(sources.values()))
    plan = duck.remembered.get(("plan", order.dt_id), (None, None, None, None))
    if plan[0] != key:
        view = Recording(_view(duck, conn, order))
        plan = (key, analysed(order, view), view.answers, dict[object, Any]())
        duck.remembered["plan", order.dt_id] = plan
    # A plan that was made before has the row counts of that time.
    made = replace(plan[1], tables=tuple(_with_rows(table, sources) for table in plan[1].tables))
    return made, plan[2]


def of_plan(duck: Duck, dt_id: int) -> tuple[Plan, dict[object, Any]] | None:
    """The plan that this process made last for a table, and what else is remembered as long as it holds."""
    made = duck.remembered.get(("plan", dt_id))
    return None if made is None else (made[1], made[3])


def _with_rows(table: Table, sources: Mapping[int, SourceTable]) -> Table:
    source = sources.get(table.table.table_id, table.table)
    return replace(table, table=replace(table.table, rows=source.rows))


def _shapes(sources: Iterable[SourceTable]) -> tuple[object, ...]:
    """All that analysing a definition a second time asks of its sources: 0.1 s, which a small refresh notices."""
    return tuple((source.table_id, source.ref, source.dt_id, tuple(source.columns.items())) for source in sources)


def _view(duck: Duck, conn: Connection[Any], order: Order) -> LakeView:
    contents = {read.dt_id: (read.ref, read.new) for read in order.reads if read.dt_id is not None}
    return LakeView(duck, conn, order.data_snapshot, contents=contents, made=order.dt_id)


def analysed(order: Order, view: SchemaView) -> Plan:
    """The plan of an order by what this view of the lake says."""
    stored = Layout.from_json(order.layout)
    plan = analyse(order.definition, view, stored=stored)
    if plan.layout == stored:
        return plan
    # How keys are cut can be altered later; the rows stay where they are.
    if replace(plan.layout, method=stored.method) == stored:
        return replace(plan, layout=stored)
    raise SourceChanged(
        f"the result of {order.definition.ref} no longer fits its table: {_misfit(plan.layout, stored)}",
        code=Reason.TYPE_CHANGED.value,
        hint=Reason.TYPE_CHANGED.hint,
    )


def find_sources(conn: Connection[Any], order: Order) -> dict[int, SourceTable]:
    """The tables that a refresh reads, at the snapshots it reads, by id. Raises ``SourceChanged`` when one, or a column
    that is used of it, is gone."""
    sources: dict[int, SourceTable] = {}
    for read in order.reads:
        source = catalog.find_table(conn, read.ref, read.new)
        if source is None:
            raise SourceChanged(
                f"{order.definition.ref} reads {read.ref}, which is no table of the lake at snapshot {read.new}",
                code=Reason.SOURCE_MISSING.value,
                hint=Reason.SOURCE_MISSING.hint,
            )
        for name in read.columns_old:
            if not catalog.used_columns(source.columns, [name]):
                raise SourceChanged(
                    f"{order.definition.ref} reads the column {name!r} of {read.ref}, which has none of this name at "
                    f"snapshot {read.new}",
                    code=Reason.SOURCE_COLUMN_MISSING.value,
                    hint=Reason.SOURCE_COLUMN_MISSING.hint,
                )
        sources[source.table_id] = source
    return sources


def _misfit(layout: Layout, stored: Layout) -> str:
    if layout.columns == stored.columns:
        return "its rows would be found by other keys"
    new, old = set(layout.columns) - set(stored.columns), set(stored.columns) - set(layout.columns)
    return f"it has {_shown(new)}, the table has {_shown(old)}"


def _shown(columns: set[Column]) -> str:
    return ", ".join(sorted(f"{column.name} {column.type}" for column in columns)) or "no such column"


def bind(order: Order, plan: Plan) -> tuple[Bound, ...]:
    """The tables of the plan, in order, with what is read of each."""
    by_id = {read.table_id: read for read in order.reads}
    by_name = {_folded(read): read for read in order.reads}
    bound: list[Bound] = []
    for table in plan.tables:
        source = table.table
        read = by_id.get(source.table_id) or by_name.get((source.ref.schema.lower(), source.ref.name.lower()))
        if read is None:
            raise LakeError(
                f"refresh {order.refresh_id} reads {source.ref}, which the definition of {order.definition.ref} "
                "did not name when it was made",
                hint="CREATE OR REPLACE the dynamic table.",
            )
        bound.append(Bound(table, read))
    return tuple(bound)


def _folded(read: Read) -> tuple[str, str]:
    return read.ref.schema.lower(), read.ref.name.lower()


def clock_row(at: datetime) -> str:
    """A query for the one row of the clock, in UTC as everything is."""
    utc = at.astimezone(UTC)
    local, offset = utc.replace(tzinfo=None).isoformat(" "), utc.isoformat(" ")
    return (
        f"SELECT TIMESTAMPTZ {literal(offset)} AS {quoted(clock.NOW)}, DATE {literal(local[:10])} AS"
        f" {quoted(clock.TODAY)}, TIMESTAMP {literal(local)} AS {quoted(clock.LOCAL)}"
    )


def _sources(order: Order, plan: Plan, bound: Iterable[Bound]) -> Iterator[tuple[str, str]]:
    """Names and queries of all that a refresh reads of the lake. Old versions only if there were any."""
    columns = ", ".join(quoted(column.name) for column in plan.layout.columns)
    yield (
        "dt_old",
        f"SELECT rowid AS {quoted(RID)}, {columns} FROM {lake_name(order.physical)}"
        f" AT (VERSION => {order.stored_snapshot:d})",
    )
    for source in bound:
        yield f"o{source.table.occurrence}_new", _at_version(source.table, source.read.new)
        if source.read.old is not None:
            yield f"o{source.table.occurrence}_old", _at_version(source.table, source.read.old)
    if plan.clock is not None:
        yield f"o{plan.clock}_new", clock_row(order.data_at)
        if order.data_at_old is not None:
            yield f"o{plan.clock}_old", clock_row(order.data_at_old)


def _at_version(table: Table, snapshot: int) -> str:
    rid = [f"rowid AS {quoted(RID)}"] if table.wants_rid else []
    columns = ", ".join([*(quoted(name) for name in table.used), *rid])
    return f"SELECT {columns} FROM {lake_name(table.table.ref)} AT (VERSION => {snapshot:d})"


class Work:
    """What one refresh reads and its temporary tables and views, under the names that the generated SQL uses.

    ``o<i>_new``, ``o<i>_old`` and ``dt_old`` are written into the statements that mention them: a view would ask the
    catalog when it is made, and again when it is read. Each mention is the query itself: where DuckDB copies the query
    of a CTE, the copy reads the table that has the name now, and not the version.

    It has the DuckDB of the process alone while it is open. ``close`` drops everything, also after an error or a stop.
    """

    def __init__(self, duck: Duck, order: Order, plan: Plan) -> None:
        self.duck = duck
        self.order = order
        self.plan = plan
        self.bound = bind(order, plan)
        self.known: dict[str, Any] = {}
        """What was found out about a table that was made; forgotten when it is made again."""
        self._counts: dict[str, int] = {}
        self._sources = dict(_sources(order, plan, self.bound))
        self._names: dict[str, Kind] = {}
        self._held = ExitStack()

    @classmethod
    def open(cls, duck: Duck, order: Order, plan: Plan, stop: Stop) -> Work:
        """Wait for the DuckDB. Raises ``LakeInterrupted`` on ``stop``."""
        work = cls(duck, order, plan)
        work._held.enter_context(duck.turn(stop))
        return work

    def __enter__(self) -> Work:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Drop what was made and let others have the DuckDB. Harmless when it is closed."""
        self.drop(*self._names)
        self._held.close()

    @contextmanager
    def reading(self) -> Generator[None]:
        """Statements that make tables in one transaction: it asks the catalog once for what each would ask. An error
        undoes them."""
        before = dict(self.known), dict(self._counts), dict(self._names)
        try:
            with self.duck.transaction(is_read_only=True):
                yield
        except BaseException:
            self.known, self._counts, self._names = before
            raise

    def view(self, name: str, sql: str) -> None:
        """Make a temporary view, in the place of whatever had the name here."""
        self._make_room(name, "VIEW")
        self.duck.run(f"CREATE OR REPLACE TEMP VIEW {quoted(name)} AS {self._with_sources(sql)}")

    def make(self, name: str, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Make a temporary table, in the place of whatever had the name here; returns the number of its rows."""
        self._make_room(name, "TABLE")
        made = f"CREATE OR REPLACE TEMP TABLE {quoted(name)} AS {self._with_sources(sql)}"
        self._counts[name] = self.duck.changed(made, parameters)
        return self._counts[name]

    def _with_sources(self, sql: str) -> str:
        """The statement with what it mentions of the lake."""
        return _TOKEN.sub(self._written, sql)

    def _written(self, token: re.Match[str]) -> str:
        name = token["name"] or token["other"]
        query = self._sources.get(name or "")
        if query is None:
            return token[0]
        alias = "" if token["other"] else token["alias"] or f" AS {quoted(name)}"
        return f"{token['before'] or token['comma']}({query}){alias}"

    def hand_over(self, name: str, other: str) -> None:
        """Rename a table that was made: it outlives this refresh, under a name that no refresh makes."""
        self.duck.drop_temporary([other])
        self.duck.run(f"ALTER TABLE {quoted('temp', 'main', name)} RENAME TO {quoted(other)}")
        self._names.pop(name, None)
        self._counts.pop(name, None)

    def adopt(self, name: str) -> None:
        """A temporary table that outlived its refresh goes with this one."""
        self._names[name] = "TABLE"

    def _make_room(self, name: str, kind: Kind) -> None:
        self.known.pop(name, None)
        self._counts.pop(name, None)
        if self._names.get(name, kind) != kind:
            self.drop(name)
        self._names[name] = kind

    def has(self, name: str) -> bool:
        """Whether a table or view of this name was made."""
        return name in self._names

    def drop(self, *names: str) -> None:
        """Drop what is no longer needed, for the memory it takes."""
        kinds = {name: self._names.pop(name, None) for name in names}
        for name in names:
            self._counts.pop(name, None)
        for kind in ("TABLE", "VIEW"):
            self.duck.drop_temporary([name for name in kinds if kinds[name] == kind], kind)

    def count(self, name: str) -> int:
        """The rows of a table that was made, or of something else that statements can mention."""
        if name in self._counts:
            return self._counts[name]
        return int(self.duck.value(self._with_sources(f"SELECT count(*) FROM {quoted(name)}")))
