"""What reads what, in layers from left to right: every table stands right of all that it reads.

Placed in three steps: the layer of a table is one more than the deepest one that it reads; edges that pass a layer get
a place in it; within layers, what is connected is brought to the same height, sweep by sweep, without changing sides
more than needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

from markupsafe import Markup

from catchment.dashboard.charts.svg import element, number
from catchment.dashboard.words import middle, roughly

BOX_WIDTH, BOX_HEIGHT = 164.0, 40.0
GAP_X, ROW, PASSING = 44.0, 54.0, 20.0
EDGE = 4.0
SWEEPS = 8

_TONES = {
    "fresh": "completed",
    "late": "interrupted",
    "failed": "failed",
    "failed above": "failed",
    "refreshing": "processing",
    "suspended": "cancelled",
    "dropping": "cancelled",
    "source": "plain",
}


def table_tone(state: str) -> str:
    """The state of tasks that a state of a table is drawn as."""
    return _TONES.get(state, "pending")


class Box(Protocol):
    """A table; one without an id is not dynamic, and has no page."""

    @property
    def key(self) -> str: ...

    @property
    def id(self) -> int | None: ...

    @property
    def name(self) -> str: ...

    @property
    def state(self) -> str: ...

    @property
    def lag(self) -> float | None: ...


class Arrow(Protocol):
    """``reader`` reads ``source``: keys of boxes."""

    @property
    def source(self) -> str: ...

    @property
    def reader(self) -> str: ...


class Graph(Protocol):
    @property
    def nodes(self) -> Sequence[Box]: ...

    @property
    def edges(self) -> Sequence[Arrow]: ...


@dataclass
class Place:
    """A box, or a place where an edge passes a layer."""

    key: str
    layer: int
    is_box: bool
    y: float = 0.0
    left: list[Place] = field(default_factory=list["Place"])
    right: list[Place] = field(default_factory=list["Place"])

    @property
    def height(self) -> float:
        return ROW if self.is_box else PASSING


def layers_of(keys: Sequence[str], edges: Iterable[tuple[str, str]]) -> dict[str, int]:
    """The layer of each table; ``edges`` are (what is read, what reads it). A circle, which there is not, ends too."""
    reads: dict[str, list[str]] = {key: [] for key in keys}
    for source, reader in edges:
        reads[reader].append(source)
    layers = dict.fromkeys(keys, 0)
    for _ in keys:
        deeper = {key: 1 + max(layers[source] for source in reads[key]) for key in keys if reads[key]}
        if all(layers[key] == layer for key, layer in deeper.items()):
            break
        layers.update(deeper)
    # A table that reads nothing stands beside the first that reads it.
    nearest: dict[str, int] = {}
    for reader, sources in reads.items():
        for source in sources:
            nearest[source] = min(nearest.get(source, layers[reader]), layers[reader])
    return {key: nearest[key] - 1 if not reads[key] and key in nearest else layer for key, layer in layers.items()}


def arrange(keys: Sequence[str], edges: Sequence[tuple[str, str]]) -> tuple[dict[str, Place], list[list[Place]]]:
    """A place for each table, and for each edge the places that it goes through."""
    layers = layers_of(keys, edges)
    places = {key: Place(key, layers[key], True) for key in keys}
    columns: list[list[Place]] = [[] for _ in range(max(layers.values(), default=0) + 1)]
    for place in places.values():
        columns[place.layer].append(place)
    ways: list[list[Place]] = []
    for source, reader in edges:
        way = [places[source]]
        for layer in range(layers[source] + 1, layers[reader]):
            passing = Place(f"{source} {reader}", layer, False)
            columns[layer].append(passing)
            way.append(passing)
        way.append(places[reader])
        for one, other in pairwise(way):
            one.right.append(other)
            other.left.append(one)
        ways.append(way)
    for column in columns:
        _stack(column, [0.0] * len(column))
    for sweep in range(SWEEPS):
        is_back = sweep % 2 == 1
        for column in reversed(columns) if is_back else columns:
            wanted = [_mean(place.right if is_back else place.left, place) for place in column]
            order = sorted(range(len(column)), key=lambda i: wanted[i])
            column[:] = [column[i] for i in order]
            _stack(column, [wanted[i] for i in order])
    highest = min((place.y - place.height / 2 for column in columns for place in column), default=0.0)
    for column in columns:
        for place in column:
            place.y -= highest
    return places, ways


def _mean(others: Sequence[Place], place: Place) -> float:
    return sum(other.y for other in others) / len(others) if others else place.y


def _stack(column: Sequence[Place], wanted: Sequence[float]) -> None:
    """Put the places of a column below each other, in their order, each as near to its wanted height as that allows."""
    down: list[float] = []
    bottom = float("-inf")
    for place, want in zip(column, wanted, strict=True):
        y = max(want, bottom + place.height / 2)
        down.append(y)
        bottom = y + place.height / 2
    # All of them were pushed down only: as a whole they go back by half of it.
    shift = max((y - want for y, want in zip(down, wanted, strict=True)), default=0.0) / 2
    for place, y in zip(column, down, strict=True):
        place.y = y - shift


def lineage_chart(graph: Graph, address: str, chosen: int | None = None) -> Markup:
    """Boxes of dynamic tables are links: ``address`` and the id. The table ``chosen`` is marked."""
    label = "What reads what, from left to right"
    nodes = graph.nodes
    places, ways = arrange([node.key for node in nodes], [(edge.source, edge.reader) for edge in graph.edges])
    columns = 1 + max((place.layer for place in places.values()), default=0)
    width = columns * BOX_WIDTH + (columns - 1) * GAP_X + 2 * EDGE
    tallest = max((place.y + place.height / 2 for way in ways for place in way), default=0.0)
    height = max([tallest, *(place.y + place.height / 2 for place in places.values())]) + 2 * EDGE
    lines = [element("path", d=_curve(way), class_="edge") for way in ways]
    boxes = [_box(node, places[node.key], address, is_chosen=node.id == chosen) for node in nodes]
    return element(
        "svg",
        element("title", label),
        element("g", *lines),
        element("g", *boxes),
        viewBox=f"0 0 {width:g} {height:g}",
        width=f"{width:g}",
        height=f"{height:g}",
        class_="lineage",
        role="group",
        aria_label=label,
    )


def _left(place: Place) -> float:
    return EDGE + place.layer * (BOX_WIDTH + GAP_X)


def _curve(way: Sequence[Place]) -> str:
    """From the right side of a box, through the layers between, to the left side of another."""
    x, y = _left(way[0]) + BOX_WIDTH, EDGE + way[0].y
    d = f"M{number(x)} {number(y)}"
    for place in way[1:]:
        to_x, to_y = _left(place), EDGE + place.y
        half = (x + to_x) / 2
        d += f" C{number(half)} {number(y)} {number(half)} {number(to_y)} {number(to_x)} {number(to_y)}"
        x, y = to_x, to_y
        if not place.is_box:
            x += BOX_WIDTH
            d += f" H{number(x)}"
    return d


def _box(node: Box, place: Place, address: str, *, is_chosen: bool) -> Markup:
    below = node.state if node.lag is None else f"{node.state} · {roughly(node.lag)} old"
    x, y = _left(place), EDGE + place.y - BOX_HEIGHT / 2
    classes = f"node tone-{table_tone(node.state)}{' is-source' if node.id is None else ''}"
    parts = [
        element("title", f"{node.name}: {below}"),
        element("rect", x=number(x), y=number(y), width=f"{BOX_WIDTH:g}", height=f"{BOX_HEIGHT:g}", rx="5"),
        element("rect", x=number(x), y=number(y), width="4", height=f"{BOX_HEIGHT:g}", rx="2", class_="stripe"),
        element("text", middle(node.name.removeprefix("main."), 18), x=number(x + 12), y=number(y + 17), class_="name"),
        element("text", below, x=number(x + 12), y=number(y + 32), class_="state-text"),
    ]
    if node.id is None:
        return element("g", *parts, class_=classes)
    return element("a", *parts, href=f"{address}{node.id}", class_=classes, aria_current="true" if is_chosen else None)
