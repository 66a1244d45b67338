"""How one task is shown to a person: what is wrong and what to do next come first, the rest below. Long values are cut
off in a terminal, and nowhere else.

Whatever comes from the database goes through ``harmless`` and ``escape``: a payload can contain anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any, NamedTuple

from rich.markup import escape
from rich.table import Table

from catchment.cli.runner import runner_of
from catchment.commands.output import console, styled_state
from catchment.commands.times import local, localized
from catchment.model.ending import children_words, count_words, error_words, what_followed
from catchment.model.remedy import ways_of
from catchment.model.span import span
from catchment.model.terminal import harmless
from catchment.model.why import Condition, Why, as_clause
from catchment.store.obstacle import skip_command

Row = Mapping[str, Any]
Line = tuple[str, list[str]]
Conditions = Sequence[Condition]
# A time that Python cannot hold, such as infinity, comes as text.
Moment = datetime | str


class Kept(NamedTuple):
    """An attempt that did not complete, as ``count_words`` takes it."""

    state: str
    is_last: bool


_LONGEST_VALUE = 2000
_MESSAGE_LINES = 3
_TRACE_LINES = 12
_ATTEMPTS = 10


def show_task(row: Row, why: Why | None) -> None:
    """One task: a headline, then a line or more for each thing that there is to say. ``why`` it waits, if it does."""
    held = () if why is None else why.blocking
    console.print(f"[bold]{_safe(row['command'])} {row['id']}[/]  {styled_state(row['state'])}{_headline(row, held)}")
    asked = () if why is None else [one for one in why.conditions if one.kind == "cancel" and not one.is_blocking]
    lines = [line for line in _lines(row, held, asked) if line[1]]
    for title, texts in lines:
        # A command is one line, however long, so that it can be copied.
        if console.is_pipe or title == "next":
            for n, text in enumerate(texts):
                console.print(f"[bold]{title if n == 0 else '':>10}[/]  {text}", soft_wrap=True)
            continue
        table = Table.grid(padding=(0, 2))
        table.add_column(justify="right", style="bold", width=10)
        table.add_column(overflow="fold")
        table.add_row(title, "\n".join(texts))
        console.print(table)


def _headline(row: Row, held: Conditions) -> str:
    if row["completed_at"] is not None:
        return f"  [dim]{_ago(row['completed_at'])}[/]"
    if not held:
        return ""
    clause = localized(as_clause(held[0].words))
    return f"  [dim]{_safe(clause if clause.startswith('it waits') else f'it waits: {clause}')}[/]"


def _lines(row: Row, held: Conditions, asked: Conditions) -> Iterator[Line]:
    error: Row = row["error_detail"] or {}
    yield "error", _error(error)
    yield "cancel", [_safe(localized(one.words)) for one in asked]
    yield "also", [_safe(localized(one.words)) for one in held[1:]]
    yield "next", _next(row, error, held)
    yield "snoozed", _snoozed(row)
    yield "queue", [_safe(row["queue"]) + _beside(row)]
    yield "tree", _tree(row)
    for name in ("payload", "result", "info"):
        yield name, [] if row[name] is None else [_value(row[name])]
    yield "progress", _progress(row)
    yield "created", _moment(row["created_at"])
    yield "due", _moment(row["scheduled_at"])
    yield "started", _started(row)
    yield "worker", _worker(row)
    yield "ended", _moment(row["completed_at"], _took(row))
    yield "attempts", _attempts(row)
    yield "children", _by_children(row)
    yield "join", _joins(row)
    yield "warnings", [f"{_ago(_time(w['at']))}, {_safe(w['source'])}: {_safe(w['message'])}" for w in row["warnings"]]
    for name in ("detail", "hint"):
        yield name, [_safe(error[name])] if error.get(name) else []
    yield "context", _context(error.get("context"), is_sql=row["handler_kind"] == "sql")


def _error(error: Row) -> list[str]:
    if not error:
        return []
    kind, message = error.get("kind", "error"), str(error.get("message", ""))
    text = message if kind == "cancelled" and message.startswith(kind) else error_words(kind, message)
    lines = [f"[red]{line}[/]" for line in _safe(_cut(text)).splitlines()]
    if len(lines) > _MESSAGE_LINES and not console.is_pipe:
        lines = [*lines[:_MESSAGE_LINES], "…"]
    return [*lines, _safe(error["where"])] if error.get("where") else lines


def _next(row: Row, error: Row, held: Conditions) -> list[str]:
    """What to type, by the state of the task, with a comment of the shell."""
    lines: list[str] = []
    child: Any = error.get("child")
    if isinstance(child, Mapping) and "id" in child:
        lines.append(f"catchment task show {child['id']}  [dim]# the first child that did not complete[/]")
    if row["retry_id"] is not None:
        if row["retry_id"] != row["id"]:
            what = "run what has failed in its tree again, this task too"
        else:
            what = "run its failed children again" if child else "run it again"
            if row["lane"] is not None and row["halted"] is None:
                what += ", out of turn: its lane has continued without it"
        lines.append(f"catchment task retry {row['retry_id']}  [dim]# {what}[/]")
    halted: Row | None = row["halted"]
    if halted is not None:
        skip = skip_command(halted["queue"], halted["lane"])
        lines.append(f"{_safe(skip)}  [dim]# skip it, so that {_lane(halted)} continues[/]")
    if row["merged_into"] is not None:
        lines.append(f"catchment task show {row['merged_into']}  [dim]# the task that it was merged into[/]")
    for one in held:
        for command, what in ways_of(one.remedy):
            lines.append(f"{_safe(command)}  [dim]# {_safe(what)}[/]" if what else _safe(command))
    if row["state"] == "waiting":
        lines.append(f"catchment task tree {row['id']}  [dim]# see its children[/]")
    if row["completed_at"] is None:
        lines.append(f"catchment task why {row['id']}  [dim]# see all there is to say about why it waits[/]")
    return lines


def _lane(halted: Row) -> str:
    """The lane without a name is the top level of a serial queue."""
    return f"lane {_safe(halted['lane'])}" if halted["lane"] else f"the serial queue {_safe(halted['queue'])}"


def _snoozed(row: Row) -> list[str]:
    snoozed: Row | None = row["snoozed"]
    if snoozed is None or row["waits_for"] == "snooze":  # then the first line says so
        return []
    times = "once" if snoozed["times"] == 1 else f"{snoozed['times']} times"
    return [times + (f": {_safe(_cut(snoozed['reason']))}" if snoozed["reason"] else "")]


def _beside(row: Row) -> str:
    lane = f", lane {_safe(row['lane'])}" if row["lane"] is not None else ""
    return f"{lane}, priority {row['priority']}, handler in {'SQL' if row['handler_kind'] == 'sql' else 'Python'}"


def _tree(row: Row) -> list[str]:
    lines: list[str] = []
    if row["parent_id"] is not None:
        root = "" if row["root_id"] == row["parent_id"] else f", {row['depth']} levels below its root {row['root_id']}"
        lines.append(f"child of task {row['parent_id']}{root}")
    if row["follows_id"] is not None:
        lines.append(f"follows task {row['follows_id']}")
    return lines


def _progress(row: Row) -> list[str]:
    """What the handler has reported, or how its children have ended."""
    if row["progress"] is None:
        return []
    return [children_words(row["progress"]) if row["child_mode"] is not None else _value(row["progress"])]


def _started(row: Row) -> list[str]:
    """When its last attempt started, and the first, if that is another one."""
    kept = [one for one in row["attempts"] if one["part"] == "handler" and one["started_at"]]
    attempts = [one for one in kept if one["state"] != "released"]  # which has no number
    if row["attempt"] <= 1 or not attempts:
        return _moment(row["process_start_at"])
    which = f", attempt {row['attempt']}; the first at {_safe(local(_time(attempts[0]['started_at'])))}"
    return _moment(row["process_start_at"], which)


def _worker(row: Row) -> list[str]:
    """Who runs it now: a worker, and of a SQL handler the session, or a session alone."""
    if row["state"] != "processing":
        return []
    session = "" if row["worker_pid"] is None else f"session {row['worker_pid']}"
    return [", ".join(_safe(part) for part in (runner_of(row), session) if part)]


def _took(row: Row) -> str:
    """The time of the last attempt, from its start until the end of the task was stored: children and join included."""
    if row["completion_duration_ms"] is None:
        return ""
    what = f"attempt {row['attempt']}" if row["attempt"] > 1 else "it"
    took = f", {what} took {span(float(row['completion_duration_ms']) / 1000)}"
    if row["child_mode"] is None or row["process_duration_ms"] is None:
        return took
    return f"{took}, its children could start after {span(float(row['process_duration_ms']) / 1000)}"


def _attempts(row: Row) -> list[str]:
    """The count, and each attempt of the handler, newest last. One that was given back has no number."""
    kept = [one for one in row["attempts"] if one["part"] == "handler"]
    if row["attempt"] <= 1 and row["max_attempts"] <= 1 and not kept:
        return []
    # Only attempts that did not complete are kept; one that did is that of the task's row.
    last = ""
    if row["state"] in ("completed", "waiting") and row["attempt"] >= 1:
        last = f"{row['attempt']}: {styled_state('completed')} {_ago(row['process_stop_at'] or row['completed_at'])}"
    elif row["state"] == "processing" and row["child_mode"] is None:
        last = f"{row['attempt']}: {styled_state('processing')}, started {_ago(row['process_start_at'])}"
    return _runs(row, kept, f"{row['attempt']} so far", last)


def _joins(row: Row) -> list[str]:
    """The runs of the join that did not complete, numbered from 1."""
    kept = [one for one in row["attempts"] if one["part"] == "join"]
    if not kept:
        return []
    count = max(one["number"] for one in kept)
    last = ""
    if row["state"] == "completed":
        count += 1
        last = f"{count}: {styled_state('completed')} {_ago(row['completed_at'])}"
    return _runs(row, kept, f"{count} run{'' if count == 1 else 's'} so far", last)


def _runs(row: Row, kept: Sequence[Row], first: str, last: str) -> list[str]:
    """A count with the failures that ``max_attempts`` limits: those since the task was retried by hand."""
    is_settled = not last and row["completed_at"] is not None
    ended = [Kept(one["state"], one["is_last"]) for one in kept]
    lines: list[str] = []
    followed = what_followed(ended, row["max_attempts"], is_settled=is_settled)
    for one, (is_given_up, is_by_hand) in zip(kept, followed, strict=True):
        lines.append(_attempt(one) + (", not retried" if is_given_up else ""))
        if is_by_hand:
            lines.append("[dim]retried by hand[/]")
    if last:
        lines.append(last)
    return [count_words(first, ended, row["max_attempts"], is_settled=is_settled), *_last(row, lines)]


def _by_children(row: Row) -> list[str]:
    """How the task had settled by its children before it was retried by hand."""
    lines: list[str] = []
    for one in row["attempts"]:
        if one["part"] == "children":
            words = error_words(one["error"].get("kind"), str(one["error"].get("message", "")), one["state"])
            first, *_ = [*_cut(words).splitlines(), ""]
            lines.append(f"{styled_state(one['state'])} {_ago(_time(one['ended_at']))}, {_safe(first)}")
            lines.append("[dim]retried by hand[/]")
    return _last(row, lines)


def _last(row: Row, lines: list[str]) -> list[str]:
    if len(lines) <= _ATTEMPTS or console.is_pipe:
        return lines
    return [f"[dim]… earlier ones: catchment task show {row['id']} --json[/]", *lines[-_ATTEMPTS:]]


def _attempt(one: Row) -> str:
    error: Row = one["error"] or {}
    if one["state"] == "released":
        return f"released {_ago(_time(one['ended_at']))}: {_safe(_cut(error.get('message', '')))}"
    words = error_words(error.get("kind", "error"), str(error.get("message", "")), one["state"])
    first, *_ = [*_cut(words).splitlines(), ""]
    return f"{one['number']}: {styled_state(one['state'])} {_ago(_time(one['ended_at']))}, {_safe(first)}"


def _context(text: Any, *, is_sql: bool) -> list[str]:
    """The end of a traceback, or the innermost of the procedures without those of the engine."""
    lines = _safe(text).rstrip().splitlines() if isinstance(text, str) else []
    if is_sql:
        lines = list(takewhile(lambda line: not line.startswith("PL/pgSQL function worker.run_handler("), lines))
    if len(lines) <= _TRACE_LINES or console.is_pipe:
        return lines
    return [*lines[:_TRACE_LINES], "…"] if is_sql else ["…", *lines[-_TRACE_LINES:]]


def _moment(moment: Moment | None, more: str = "") -> list[str]:
    if moment is None:
        return []
    return [_safe(moment) + more if isinstance(moment, str) else f"{local(moment)}, {_ago(moment)}{more}"]


def _time(text: str) -> Moment:
    """A time of a JSON value."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return text


def _ago(moment: Moment) -> str:
    if isinstance(moment, str):
        return _safe(moment)
    seconds = (datetime.now(UTC) - moment).total_seconds()
    return f"{span(seconds)} ago" if seconds >= 0 else f"in {span(-seconds)}"


def _value(value: Any) -> str:
    is_json = isinstance(value, dict | list)
    return _safe(_cut(json.dumps(value, default=str, ensure_ascii=False) if is_json else str(value)))


def _cut(text: Any) -> str:
    whole = str(text)
    return whole if len(whole) <= _LONGEST_VALUE or console.is_pipe else f"{whole[:_LONGEST_VALUE]} …"


def _safe(text: Any) -> str:
    return escape(harmless(str(text)))
