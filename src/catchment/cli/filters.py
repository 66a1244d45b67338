"""Filters of tasks that commands have alike; and ``--since``: how long ago, or from which time on."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

Queue = Annotated[str | None, typer.Option(help="Only this queue.")]
Command = Annotated[str | None, typer.Option(help="Only this command.")]
Lane = Annotated[
    str | None, typer.Option(help="Only this lane. Lanes of several queues can share a name: add --queue.")
]

_UNITS = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), "seconds"),
    **dict.fromkeys(("m", "min", "minute", "minutes"), "minutes"),
    **dict.fromkeys(("h", "hour", "hours"), "hours"),
    **dict.fromkeys(("d", "day", "days"), "days"),
}
_SPAN = re.compile(r"(\d+(?:\.\d+)?) *([a-z]+)")


def read_since(text: str) -> timedelta | datetime:
    """``10m``, ``1.5 h`` or ``2030-01-31 12:00``, which is a local time if it names no zone."""
    try:
        if (span := _SPAN.fullmatch(text.strip().lower())) and span[2] in _UNITS:
            return timedelta(**{_UNITS[span[2]]: float(span[1])})
        moment = datetime.fromisoformat(text.strip())
    except (ValueError, OverflowError) as error:
        raise typer.BadParameter(
            f"{text!r} is neither a span such as 30s, 10m, 2h or 1d nor a time such as '2030-01-31 12:00'",
            param_hint="--since",
        ) from error
    try:
        return moment if moment.tzinfo is not None else moment.astimezone()
    except (ValueError, OverflowError):  # a zone would put it before the first year
        return moment.replace(tzinfo=UTC)


def begin_of(since: timedelta | datetime, now: datetime) -> datetime:
    """The time of ``--since``, by the clock of the server."""
    try:
        return now - since if isinstance(since, timedelta) else since
    except OverflowError:  # before the first year
        return datetime.min.replace(tzinfo=UTC) + timedelta(days=2)
