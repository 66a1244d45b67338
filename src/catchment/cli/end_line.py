"""The line that shows the end of a task or of an attempt: in ``catchment dev`` and in ``catchment tail``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rich.color import ColorSystem
from rich.console import Console
from rich.style import Style

from catchment.commands.output import STATE_STYLES, errors
from catchment.commands.times import clock
from catchment.model.ending import attempt_words, error_words, failure_words
from catchment.model.terminal import one_line
from catchment.store.obstacle import skip_command

# In a terminal; the rest is shown by `catchment task show`.
LONGEST_ERROR = 300
# An attempt with another one to come: its task is pending, not failed.
_STYLES = {**STATE_STYLES, "halted": STATE_STYLES["failed"], "retry": "yellow"}


def task_line(
    state: str,
    command: str,
    task_id: int,
    seconds: float | None,
    error: str | None,
    *,
    at: str,
    part: str | None = None,
    remark: str = "",
    on: Console = errors,
) -> str:
    """The end of a task or of an attempt: time, state, command, id, seconds (of which part), remark, error. ``on`` is
    where it is shown, which decides about colours."""
    duration = "" if seconds is None else f"  {part} {seconds:.3f} s" if part else f"  {seconds:.3f} s"
    text = one_line(error) if error else ""
    if len(text) > LONGEST_ERROR and on.is_terminal:
        text = f"{text[: LONGEST_ERROR - 1]}…"
    reason = ": ".join(part for part in (remark, text) if part)
    return f"{at} {coloured(state, on)} {one_line(command)} {task_id}{duration}{f'  {reason}' if reason else ''}"


def end_lines(row: Mapping[str, Any], *, on: Console = errors) -> list[str]:
    """The end of a task as the query ``task_ended`` has it, and the lane that it halts."""
    at = clock(row["completed_at"])
    has_failed = row["failures"] and row["error_kind"] != "children"
    remark = failure_words(row["failures"], row["max_attempts"], is_last=True) if has_failed else ""
    if row["state"] == "completed":
        remark = attempt_words(row["attempt"])
    reason = reason_of(row["error"], row["error_kind"], row["error_where"], row["error_hint"], state=row["state"])
    line = task_line(row["state"], row["command"], row["id"], row["seconds"], reason, at=at, remark=remark, on=on)
    return [line, halted_line(row["halted"], row["id"], at=at, on=on)] if row["halted"] else [line]


def more_line(others: Mapping[str, int], *, at: str) -> str:
    """How many ends of each state are not shown one by one."""
    words = ", ".join(f"{count:,} more {state}" for state, count in sorted(others.items()))
    return f"{at} {'…':<11} {words}"


def halted_line(halted: dict[str, Any], task_id: int, *, at: str, on: Console = errors) -> str:
    """A lane that goes no further because this task failed, and the commands by which it continues."""
    queue, lane = halted["queue"], halted["lane"]
    skip = skip_command(queue, lane)
    what = one_line(f"lane {lane} of queue {queue}" if lane else f"the serial queue {queue}")
    return (
        f"{at} {coloured('halted', on)} {what}, because task {task_id} failed."
        f" To retry it: catchment task retry {task_id}. To skip it: {skip}"
    )


def reason_of(error: str | None, kind: str | None, where: str | None, hint: str | None, *, state: str) -> str | None:
    """The error, with its class and its place where Python has them, and its hint. ``state`` is shown beside it."""
    if not error and not kind:
        return None
    place = (where or "").partition(" ")[0]
    return (
        f"{error_words(kind, error, state)}{f' ({os.path.relpath(place)})' if place else ''}"
        f"{f'; hint: {hint}' if hint else ''}"
    )


def coloured(word: str, on: Console) -> str:
    """A state in its column."""
    text = f"{word:<11}"
    style = _STYLES.get(word)
    if style is None or on.color_system is None or on.no_color:
        return text
    has_few = on.color_system == "standard"
    return Style.parse(style).render(text, color_system=ColorSystem.STANDARD if has_few else ColorSystem.EIGHT_BIT)
