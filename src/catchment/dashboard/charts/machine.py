"""The states of a task and the way that one task went through them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from markupsafe import Markup

from catchment.dashboard.charts.svg import element, number

WIDTH, HEIGHT, DEEP = 560.0, 222.0, 262.0
PILL_WIDTH, PILL_HEIGHT = 108.0, 28.0

PLACES = {
    "pending": (62.0, 112.0),
    "processing": (210.0, 112.0),
    "interrupted": (210.0, 184.0),
    "waiting": (358.0, 34.0),
    "completed": (498.0, 34.0),
    "failed": (498.0, 112.0),
    "cancelled": (498.0, 184.0),
}
# Each way, and where its head points: right, left, up, down. The first ones are always there, the others if taken.
USUAL = {
    ("pending", "processing"): ("M116 112 H154", "right"),
    ("processing", "waiting"): ("M258 100 C266 62 278 40 302 35", "right"),
    ("waiting", "completed"): ("M412 34 H442", "right"),
    ("processing", "completed"): ("M264 108 C340 100 404 84 456 50", "up"),
    ("processing", "failed"): ("M264 112 H442", "right"),
    ("processing", "interrupted"): ("M200 126 V168", "down"),
    ("interrupted", "processing"): ("M220 170 V128", "up"),
}
RARE = {
    ("processing", "pending"): ("M176 126 C168 154 104 154 82 128", "up"),
    ("waiting", "processing"): ("M330 48 C318 76 290 96 266 104", "left"),
    ("processing", "cancelled"): ("M258 124 C320 150 390 176 442 183", "right"),
    ("waiting", "failed"): ("M396 48 C410 76 424 94 444 104", "right"),
    ("waiting", "cancelled"): ("M380 48 C396 110 424 152 450 168", "right"),
    ("interrupted", "failed"): ("M264 180 C340 164 410 146 452 128", "up"),
    ("interrupted", "cancelled"): ("M264 188 H442", "right"),
    ("failed", "waiting"): ("M470 98 C452 70 430 54 414 44", "left"),
    ("cancelled", "waiting"): ("M470 170 C430 130 400 90 372 50", "up"),
    ("failed", "pending"): ("M520 126 C520 290 74 290 64 128", "up"),
    ("cancelled", "pending"): ("M498 198 C490 270 72 270 56 128", "up"),
    ("pending", "cancelled"): ("M48 126 C60 260 420 270 476 200", "up"),
    ("pending", "failed"): ("M48 126 C60 280 440 290 508 128", "up"),
    ("pending", "completed"): ("M62 98 C80 -30 420 -20 470 18", "down"),
}
_HEADS = {"right": "l-7 -4 v8 Z", "left": "l7 -4 v8 Z", "up": "l-4 7 h8 Z", "down": "l-4 -7 h8 Z"}
# These run below everything else.
_DEEP = {("failed", "pending"), ("cancelled", "pending"), ("pending", "cancelled"), ("pending", "failed")}


def machine(states: Sequence[str], times: dict[str, str], marks: dict[str, Markup], *, label: str) -> Markup:
    """``states`` in the order in which the task was in them, the last one is the current one; ``times`` says how long
    it was in each."""
    taken = Counter(pair for pair in pairwise(states) if pair[0] != pair[1])
    current = states[-1] if states else ""
    parts = [element("title", label)]
    ways = {**USUAL, **RARE}
    # What was taken lies on top.
    for pair in sorted(ways, key=lambda pair: taken[pair]):
        if pair in USUAL or taken[pair]:
            parts.append(_way("-".join(pair), *ways[pair], count=taken[pair]))
    parts += [
        _node(state, marks.get(state, Markup("")), times.get(state, ""), state in states, state == current)
        for state in PLACES
    ]
    height = DEEP if any(taken[pair] for pair in _DEEP) else HEIGHT
    return element(
        "svg",
        *parts,
        viewBox=f"0 0 {WIDTH:g} {height:g}",
        class_="machine",
        role="img",
        aria_label=label,
    )


def _way(key: str, line: str, head: str, *, count: int) -> Markup:
    x, y = _end(line)
    return element(
        "g",
        element("path", d=line, class_="line"),
        element("path", d=f"M{number(x)} {number(y)} {_HEADS[head]}", class_="head"),
        class_="way is-taken" if count else "way",
        data_key=key,
    )


def _end(line: str) -> tuple[float, float]:
    """The last point of a path."""
    words = line.split()
    last = words[-1]
    if last.startswith("H"):
        return float(last[1:]), float(words[1])
    if last.startswith("V"):
        return float(words[0][1:]), float(last[1:])
    return float(words[-2]), float(last)


def _node(state: str, mark: Markup, time: str, is_taken: bool, is_current: bool) -> Markup:
    x, y = PLACES[state]
    left, top = x - PILL_WIDTH / 2, y - PILL_HEIGHT / 2
    below = state == "interrupted"
    kind = f"node state-{state}{' is-taken' if is_taken else ''}{' is-now' if is_current else ''}"
    inner = [
        element(
            "rect",
            x=number(left),
            y=number(top),
            width=number(PILL_WIDTH),
            height=number(PILL_HEIGHT),
            rx="14",
        ),
        element("g", mark, transform=f"translate({number(left + 9)} {number(y - 6)})", class_="mark"),
        element("text", state, x=number(left + 26), y=number(y + 4), class_="name"),
    ]
    if time:
        inner.append(element("text", time, x=number(x), y=number(y + 27 if below else y - 20), class_="time"))
    return element("g", *inner, class_=kind, data_key=state)
