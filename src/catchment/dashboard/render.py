"""Turns data into pages: the templates, and the functions that they use. Everything is escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape
from pydantic import BaseModel

from catchment.dashboard import words
from catchment.dashboard.charts.area import stacked_area
from catchment.dashboard.charts.buckets import bucket_chart
from catchment.dashboard.charts.lag import lag_chart, lag_spark
from catchment.dashboard.charts.lineage import lineage_chart, table_tone
from catchment.dashboard.charts.machine import machine
from catchment.dashboard.charts.shares import shares
from catchment.dashboard.charts.sparkline import sparkline
from catchment.dashboard.charts.waterfall import density, hatched, waterfall
from catchment.dashboard.plugin import Plugin
from catchment.dashboard.screen import Button, button
from catchment.model.remedy import ways_of
from catchment.model.terminal import shell_command

if TYPE_CHECKING:
    from catchment.dashboard.pages.task_path import Step

# The shape of each state beside its colour, in a square of 12.
_MARKS = {
    "pending": '<circle cx="6" cy="6" r="4.2" fill="none"/>',
    "processing": '<path d="M3.5 2.2 L9.8 6 L3.5 9.8 Z" class="full"/>',
    "waiting": '<path d="M6 1.6 L10.4 6 L6 10.4 L1.6 6 Z" fill="none"/>',
    "interrupted": '<path d="M6 1.8 L10.6 10 L1.4 10 Z" fill="none"/><path d="M6 4.8 V7.4"/>',
    "completed": '<path d="M2 6.4 L4.9 9.2 L10 3" fill="none"/>',
    "failed": '<path d="M2.6 2.6 L9.4 9.4 M9.4 2.6 L2.6 9.4"/>',
    "cancelled": '<circle cx="6" cy="6" r="4.2" fill="none"/><path d="M3.2 8.8 L8.8 3.2"/>',
}


_NAMED_TASK = re.compile(r"(\b[Tt]ask [0-9]{1,18}\b)")
_NONE = Markup('<span class="none">&ndash;</span>')


def mark(state: str) -> Markup:
    """The shape of a state."""
    shape = _MARKS.get(state, "")
    return Markup(f'<svg class="mark" viewBox="0 0 12 12" aria-hidden="true">{shape}</svg>')  # noqa: S704 - ours


def state(name: str) -> Markup:
    """A state with its shape and colour."""
    return Markup('<span class="state state-{}">{}{}</span>').format(name, mark(name), name)


def state_machine(path: Sequence[Step], label: str) -> Markup:
    """The states of a task, the way that it took marked, with how long it was in each."""
    times: dict[str, str] = {}
    for name in {step.state for step in path}:
        spans = [step.seconds for step in path if step.state == name and step.seconds is not None]
        if spans:
            times[name] = words.span(sum(spans)) + (f", {len(spans)} times" if len(spans) > 1 else "")
    shapes = {name: Markup(shape) for name, shape in _MARKS.items()}  # noqa: S704 - ours
    return machine([step.state for step in path], times, shapes, label=label)


def when(moment: datetime | str | None) -> Markup:
    """A time relative to now, with the exact one on hover. One that Python cannot hold is text."""
    if moment is None:
        return _NONE
    if isinstance(moment, str):
        return escape(moment)
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return Markup('<time datetime="{}" title="{}">{}</time>').format(text, words.exact(moment), words.ago(moment))


def since(moment: datetime | None) -> Markup:
    """How long ago, without the word: an age."""
    if moment is None:
        return _NONE
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    age = words.span(max(0.0, (datetime.now(UTC) - moment).total_seconds()))
    return Markup('<time datetime="{}" title="since {}" data-age>{}</time>').format(text, words.exact(moment), age)


def long_name(text: str | None, most: int = 40) -> Markup:
    """A name, cut in the middle if it is long; all of it on hover."""
    if text is None:
        return _NONE
    cut = words.middle(text, most)
    return escape(text) if cut == text else Markup('<span title="{}">{}</span>').format(text, cut)


def copied(value: object) -> Markup:
    """A value that is copied on click."""
    return Markup('<button type="button" class="copy mono" data-copy="{0}" title="Copy {0}">{0}</button>').format(value)


@pass_context
def linked(context: Context, text: str, tasks: Sequence[int]) -> Markup:
    """A sentence in which these tasks are links."""
    parts = _NAMED_TASK.split(text)
    inner: list[Markup] = []
    for part in parts:
        match = _NAMED_TASK.fullmatch(part)
        if match is None or int(match[0][5:]) not in tasks:
            inner.append(escape(part))
        else:
            link = Markup('<a href="{}" data-panel-link>{}</a>')
            inner.append(link.format(url(context, f"/tasks/{match[0][5:]}"), part))
    return Markup("").join(inner)


@pass_context
def url(context: Context, path: str, /, **query: Any) -> str:
    """An address below the prefix of the dashboard, without parameters whose value is None."""
    given = {key: _plain(value) for key, value in query.items() if value is not None and value != ""}
    return f"{context['root']}{path}{'?' if given else ''}{urlencode(given)}"


@pass_context
def filtered(context: Context, path: str | None = None, /, **changes: Any) -> str:
    """The address of this page, or of another one, with other parameters; those with the value None are removed. Paging
    starts again."""
    query: BaseModel = context["query"]
    given = {**query.model_dump(mode="json", exclude_defaults=True, exclude={"before", "after"}), **changes}
    # Those of the path are in it.
    inner = {key: value for key, value in given.items() if key not in context["path_parameters"]}
    return url(context, path or context["path"], **inner)


def _plain(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def as_json(value: Any) -> str:
    """JSON for people, with every digit of large numbers."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


@pass_context
def button_of(context: Context, name: str, values: dict[str, Any]) -> Button:
    """The button of an action: see ``act`` in ``parts.html``."""
    return button(context["actions"][name], values)


@cache
def make_environment(plugins: tuple[Plugin, ...] = ()) -> Environment:
    """One for all dashboards of a process: templates are compiled once."""
    added = {plugin.name: PackageLoader(plugin.package) for plugin in plugins}
    environment = Environment(
        loader=ChoiceLoader([PackageLoader("catchment.dashboard"), PrefixLoader(added)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {
        "as_json": as_json,
        "count": words.count,
        "middle": words.middle,
        "plural": plural,
        "rate": words.rate,
        "size": words.size,
        "span": words.span,
    }
    functions = (
        mark,
        state,
        when,
        since,
        long_name,
        copied,
        url,
        filtered,
        button_of,
        words.clock_times,
        words.roughly,
        shell_command,
        ways_of,
        sparkline,
        stacked_area,
        shares,
        waterfall,
        density,
        hatched,
        state_machine,
        linked,
        words.size,
        table_tone,
        lineage_chart,
        lag_spark,
        lag_chart,
        bucket_chart,
    )
    named: Any = environment  # its own dictionaries have no types
    named.filters.update(filters)
    for plugin in plugins:
        named.globals.update(plugin.functions)
    named.globals.update({function.__name__: function for function in functions})
    return environment


def plural(number: int, one: str, many: str | None = None) -> str:
    """``1 task``, ``2 tasks``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


class Renderer:
    """The templates, with what every page has."""

    def __init__(self, plugins: tuple[Plugin, ...] = ()) -> None:
        self._environment = make_environment(plugins)

    def page(self, template: str, frame: Mapping[str, Any], **values: Any) -> str:
        return self._environment.get_template(template).render({**frame, **values})
