"""A state has one name, one shape and one hue, in the terminal and in the dashboard."""

from __future__ import annotations

import colorsys
import re
from importlib import resources

from catchment.commands.output import STATE_SHAPES, STATE_STYLES
from catchment.dashboard.render import mark, state
from catchment.model.state import TaskState

STATES = [str(each) for each in TaskState]
# What a shape of the terminal is drawn with, and the range of hues of its colour there; None is grey.
DRAWN = {
    "○": ["circle"],
    "▶": ["path"],
    "◇": ["path"],
    "△": ["path", "path"],
    "✓": ["path"],
    "✗": ["path"],
    "⊘": ["circle", "path"],
}
HUES = {
    "dim": None,
    "bright_blue": range(200, 235),
    "magenta": range(255, 300),
    "yellow": range(25, 60),
    "green": range(120, 165),
    "red": range(345, 375),
    "color(103)": None,
}


def hue(colour: str) -> int | None:
    """In degrees; None for one that is nearly grey."""
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    angle, _, saturation = colorsys.rgb_to_hls(red, green, blue)
    degrees = round(angle * 360)
    return None if saturation < 0.25 else degrees + 360 if degrees < 15 else degrees


def test_states_look_alike_in_the_terminal_and_in_the_dashboard() -> None:
    css = resources.files("catchment.dashboard").joinpath("static/dashboard.css").read_text(encoding="utf-8")
    for name in STATES:
        assert name in state(name)
        assert re.findall(r"<(circle|path)", mark(name)) == DRAWN[STATE_SHAPES[name]], name
        colours = re.findall(rf"--{name}: (#\w{{6}})", css)
        assert len(colours) >= 2, name  # light and dark
        expected = HUES[STATE_STYLES[name]]
        for colour in colours:
            seen = hue(colour)
            assert (seen is None) if expected is None else (seen in expected), (name, colour, seen)
    assert len({str(mark(name)) for name in STATES}) == len(STATES)


def test_the_list_of_the_dashboard_offers_the_states_of_the_command_line() -> None:
    page = resources.files("catchment.dashboard").joinpath("templates/tasks.html").read_text(encoding="utf-8")
    (offered,) = re.findall(r'{% for name in \(([^)]*"pending"[^)]*)\) %}', page)
    assert sorted(re.findall(r'"(\w+)"', offered)) == sorted(STATES) == sorted(STATE_SHAPES)
