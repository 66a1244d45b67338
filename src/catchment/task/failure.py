"""How an exception is stored with its task: structured, bounded, and in text that jsonb can hold."""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

from catchment import errors
from catchment.errors import CatchmentError, GiveUp, PayloadInvalid, RetryLater

_PACKAGE = f"{Path(errors.__file__).parent}{os.sep}"
_FRAMES = 20
_CONTEXT_BYTES = 8_000
_MESSAGE_BYTES = 2_000


def describe_error(error: BaseException) -> dict[str, Any]:
    """The object that ``worker.fail_task`` takes: kind, message, where, context, and what they mean for a retry."""
    frames = _frames_outside(error.__traceback__)
    described: dict[str, Any] = {
        "kind": type(error).__name__,
        "message": _storable(_text_of(error), _MESSAGE_BYTES),
        "context": _storable(_formatted(error), _CONTEXT_BYTES, keep_end=True),
    }
    if frames:
        last = frames[-1]
        described["where"] = _storable(f"{last.filename}:{last.lineno} {last.name}", _MESSAGE_BYTES)
    if isinstance(error, CatchmentError) and error.hint:
        described["hint"] = _storable(error.hint, _MESSAGE_BYTES)
    if isinstance(error, CatchmentError) and isinstance(code := getattr(error, "code", None), str):
        described["code"] = _storable(code, _MESSAGE_BYTES)
    if isinstance(error, RetryLater):
        described["retry_after"] = round(max(error.delay.total_seconds(), 0.0), 3)
    # A handler that could not even be called fails in the same way each time.
    elif isinstance(error, GiveUp | PayloadInvalid) or (isinstance(error, TypeError) and not frames):
        described["retryable"] = False
    return described


def _frames_outside(trace: TracebackType | None) -> list[traceback.FrameSummary]:
    """The frames that are not our own, innermost last."""
    return [frame for frame in traceback.extract_tb(trace) if not frame.filename.startswith(_PACKAGE)]


def _formatted(error: BaseException) -> str:
    try:
        return "".join(traceback.TracebackException.from_exception(error, limit=-_FRAMES).format())
    except Exception as problem:
        return f"the traceback cannot be shown: {type(problem).__name__}"


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as problem:
        return f"its message cannot be shown: {type(problem).__name__}"


def _storable(text: str, limit: int, *, keep_end: bool = False) -> str:
    """Text without what jsonb refuses (NUL, lone surrogates), cut to a number of bytes."""
    data = text.replace("\0", "\\0").encode("utf-8", "backslashreplace")
    if len(data) > limit:
        data = b"..." + data[3 - limit :] if keep_end else data[: limit - 3] + b"..."
    return data.decode("utf-8", "ignore")
