"""How an exception is stored with its task: structured, bounded, and in text that jsonb can hold.

Every exception can be described: one whose ``__str__`` raises, an endless chain, a message of a gigabyte or one with
lone surrogates. A group names what it holds, because "2 sub-exceptions" says nothing.
"""

from __future__ import annotations

import asyncio
import os
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, cast

from catchment.errors import ArgumentsInvalid, CatchmentError, GiveUp, InfoRefused, RetryLater

_PACKAGE = f"{Path(__file__).parents[1]}{os.sep}"
# What calls handlers. Their frames come first in each traceback, and say nothing about the error.
_CALLERS = frozenset(
    f"{_PACKAGE}{part.replace('/', os.sep)}.py"
    for part in (
        "runtime/executor",
        "runtime/handler_call",
        "runtime/pools",
        "runtime/process_child",
        "runtime/ray/body",
        "contrib/django/handlers",
        "contrib/django/run",
        "task/middleware",
    )
)
_FRAMES = 20
_CONTEXT_BYTES = 8_000
_MESSAGE_BYTES = 2_000
_NAMED = 5
_NAMED_BYTES = 300
# Of notes: the traceback has them whole.
_NOTES_BYTES = 300

Group = BaseExceptionGroup[BaseException]


def meaning_of(error: BaseException) -> BaseException:
    """The error that says what happens to the attempt. A group of nothing but ``RetryLater``, besides cancellations,
    means the one of them with the longest delay; any other error means itself. Never raises."""
    try:
        leaves = _leaves(error)
        asked = [leaf for leaf in leaves if isinstance(leaf, RetryLater)]
        if not asked or len(asked) < len(leaves):
            return error
        return max(asked, key=lambda one: (one.uses_attempt, one.delay))
    except BaseException:  # a group of any class, with attributes that raise
        return error


def _leaves(error: BaseException) -> list[BaseException]:
    """What a group holds, at whatever depth, without cancellations; of any other error, itself."""
    leaves: list[BaseException] = []
    rest = [error]
    while rest:
        one = rest.pop()
        if isinstance(one, BaseExceptionGroup):
            rest += reversed(cast("Group", one).exceptions)
        elif one is error or not isinstance(one, asyncio.CancelledError):
            leaves.append(one)
    return leaves


def describe_error(error: BaseException) -> dict[str, Any]:
    """The object that ``worker.fail_task`` takes: kind, message, where, context, and what they mean for a retry.

    ``message`` has at most 2,000 bytes, ``context`` the last 8,000 of the traceback. Never raises.
    """
    error = meaning_of(error)
    described: dict[str, Any] = {
        "kind": _shown(lambda: type(error).__name__, "its class", _MESSAGE_BYTES),
        "message": _shown(lambda: _message(error), "its message", _MESSAGE_BYTES),
        "context": _shown(lambda: _formatted(error), "its traceback", _CONTEXT_BYTES, keep_end=True),
    }
    try:
        _describe_further(error, described)
    except BaseException as problem:  # it may be of any class, with attributes that raise
        described["hint"] = f"the rest of this error cannot be shown: {type(problem).__name__}"
    return described


def _describe_further(error: BaseException, described: dict[str, Any]) -> None:
    leaves = _leaves(error) or [error]
    # Of a group, the place of the first error that it holds: its own is inside of the task group.
    frames = _frames_outside(leaves[0].__traceback__) or _frames_outside(error.__traceback__)
    if frames:
        last = frames[-1]
        described["where"] = storable(f"{last.filename}:{last.lineno} {last.name}", _MESSAGE_BYTES)
    if isinstance(error, CatchmentError) and error.hint:
        described["hint"] = storable(str(error.hint), _MESSAGE_BYTES)
    elif notes := _notes(error) or (_notes(leaves[0]) if len(leaves) == 1 else ""):
        described["hint"] = storable(notes, _NOTES_BYTES)
    if isinstance(error, CatchmentError) and isinstance(code := getattr(error, "code", None), str):
        described["code"] = storable(code, _MESSAGE_BYTES)
    if isinstance(error, RetryLater):
        described["retry_after"] = round(max(error.delay.total_seconds(), 0.0), 3)
        if not error.uses_attempt:
            described["uses_attempt"] = False
    # A handler that could not even be called fails in the same way each time.
    elif any(isinstance(leaf, GiveUp | ArgumentsInvalid | InfoRefused) for leaf in leaves) or (
        isinstance(error, TypeError) and not frames
    ):
        described["retryable"] = False


def _message(error: BaseException) -> str:
    text = str(error)
    leaves = _leaves(error)
    if len(leaves) == 1 and leaves[0] is error:
        return text
    named = [
        _shown(lambda leaf=leaf: f"{type(leaf).__name__}: {leaf}", "one", _NAMED_BYTES) for leaf in leaves[:_NAMED]
    ]
    rest = f"; and {len(leaves) - _NAMED} more" if len(leaves) > _NAMED else ""
    return f"{text}: {'; '.join(named)}{rest}" if named else text


def _notes(error: BaseException) -> str:
    """What ``add_note`` added, on one line."""
    notes = getattr(error, "__notes__", None)
    if not isinstance(notes, list):
        return ""
    return " ".join(" ".join(str(note) for note in cast("list[object]", notes)).split())


def _frames_outside(trace: TracebackType | None) -> list[traceback.FrameSummary]:
    """The frames that are not our own, innermost last. Frozen modules have no file to open."""
    return [frame for frame in traceback.extract_tb(trace) if not frame.filename.startswith((_PACKAGE, "<frozen "))]


def _formatted(error: BaseException) -> str:
    trace = _without_callers(error.__traceback__)
    return "".join(traceback.TracebackException(type(error), error, trace, limit=-_FRAMES).format())


def _without_callers(trace: TracebackType | None) -> TracebackType | None:
    """Without the leading frames that called the handler; all of it if there are no others."""
    first = trace
    while first is not None and first.tb_frame.f_code.co_filename in _CALLERS:
        first = first.tb_next
    return trace if first is None else first


def _shown(read: Callable[[], str], what: str, limit: int, *, keep_end: bool = False) -> str:
    """The text that ``read`` returns, or the reason why there is none."""
    try:
        return storable(read(), limit, keep_end=keep_end)
    except BaseException as problem:  # whatever a __str__ raises
        return f"{what} cannot be shown: {type(problem).__name__}"


def storable(text: str, limit: int, *, keep_end: bool = False) -> str:
    """Text without what jsonb refuses (NUL, lone surrogates), cut to a number of bytes."""
    cut = text[-limit:] if keep_end else text[: limit + 1]  # a byte or more each: the rest need not be looked at
    data = cut.replace("\0", "\\0").encode("utf-8", "backslashreplace")
    if len(data) > limit or len(cut) < len(text):
        data = b"..." + data[3 - limit :] if keep_end else data[: limit - 3] + b"..."
    return data.decode("utf-8", "ignore")
