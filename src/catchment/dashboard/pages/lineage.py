"""What reads what among dynamic tables, as plain data: for the picture, and to know what is below a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from catchment.dashboard.database import Reader
from catchment.dashboard.screen import Answer, sql

MOST_EDGES = 10_000
MOST_DRAWN = 60


class Node(Answer):
    """A table. ``id`` is null for one that is not dynamic."""

    key: str
    id: int | None
    name: str
    state: str
    lag: float | None = None


class Edge(Answer):
    """``reader`` reads ``source``; both are keys of nodes."""

    source: str
    reader: str


class Lineage(Answer):
    nodes: list[Node]
    edges: list[Edge]

    @property
    def is_drawable(self) -> bool:
        return 0 < len(self.nodes) <= MOST_DRAWN

    def below(self, key: str) -> set[str]:
        """All tables that read a table, directly or through others."""
        return _reach(key, ((edge.source, edge.reader) for edge in self.edges))

    def above(self, key: str) -> set[str]:
        """All tables that a table reads, directly or through others."""
        return _reach(key, ((edge.reader, edge.source) for edge in self.edges))

    def around(self, key: str) -> Lineage:
        """A table with all above and below it; if these are too many, with its neighbours alone."""
        near = {edge.source for edge in self.edges if edge.reader == key}
        near |= {edge.reader for edge in self.edges if edge.source == key}
        wide = self.above(key) | self.below(key)
        return self._only({key} | (wide if len(wide) < MOST_DRAWN else near))

    def _only(self, keys: set[str]) -> Lineage:
        return Lineage(
            nodes=[node for node in self.nodes if node.key in keys],
            edges=[edge for edge in self.edges if edge.source in keys and edge.reader in keys],
        )


def _reach(start: str, pairs: Iterable[tuple[str, str]]) -> set[str]:
    steps: dict[str, list[str]] = {}
    for one, other in pairs:
        steps.setdefault(one, []).append(other)
    reached: set[str] = set()
    open_keys = [start]
    while open_keys:
        for key in steps.get(open_keys.pop(), ()):
            if key not in reached:
                reached.add(key)
                open_keys.append(key)
    return reached - {start}


async def read_lineage(reader: Reader, tables: Mapping[int, Node]) -> Lineage:
    """The graph of these dynamic tables and of what they read."""
    nodes = {node.key: node for node in tables.values()}
    edges: list[Edge] = []
    for row in await reader.rows(sql("tables_lineage"), most=MOST_EDGES):
        if row["id"] not in tables:
            continue
        known = tables.get(row["source_id"])
        source = known or Node(key=f"s{row['source']}", id=None, name=row["source"], state="source")
        nodes.setdefault(source.key, source)
        edges.append(Edge(source=source.key, reader=tables[row["id"]].key))
    return Lineage(nodes=list(nodes.values()), edges=edges)
