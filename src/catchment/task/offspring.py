"""What a handler recorded: children, siblings, follow-ups and figures, as the engine takes them.

Payloads arrive as JSON text and are joined, never parsed again: ten thousand spawns take about as long as their
validation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic_core import PydanticSerializationError, to_json

from catchment.errors import InfoRefused, ResultRefused, ScopePolicyFixed
from catchment.task.encode import DEFAULT_LIMIT, encode

ChildMode = Literal["concurrent", "serial"]
OnChildFailure = Literal["wait", "cancel_siblings"]

# The most spawns, and bytes of spawns, in one statement: it takes well under a second, far less than its time limit.
SLICE = 10_000
SLICE_BYTES = 4 * 1024 * 1024


class Offspring:
    """The record of one attempt. Nothing of it exists until the attempt completes."""

    __slots__ = ("_figures", "_follow_ups", "_has_children", "_policy", "_spawns")

    def __init__(self) -> None:
        self._spawns: list[str] = []
        self._follow_ups: list[str] = []
        self._policy: tuple[ChildMode, OnChildFailure] | None = None
        self._has_children = False
        self._figures: dict[str, Any] | None = None

    def set_policy(self, mode: ChildMode, on_child_failure: OnChildFailure) -> None:
        """Fix the policy of the task's one scope; raises ``ScopePolicyFixed`` if it is fixed to another."""
        if self._policy is None:
            self._policy = (mode, on_child_failure)
        elif self._policy != (mode, on_child_failure):
            raise ScopePolicyFixed(
                f"the scope of this task is {' / '.join(self._policy)}, not {mode} / {on_child_failure}",
                hint="A task has one scope: spawn a child that has the other one, or a follow-up.",
            )

    def add_children(self, entries: list[str]) -> None:
        """Record children; the first ones fix the scope to the defaults unless a block has chosen."""
        if entries:
            if self._policy is None:
                self._policy = ("concurrent", "wait")
            self._has_children = True
            self._spawns += entries

    def add_sibling(self, entry: str) -> None:
        self._spawns.append(entry)

    def add_follow_up(self, entry: str) -> None:
        self._follow_ups.append(entry)

    def add_figures(self, figures: Mapping[str, Any]) -> None:
        """Record figures; a name that is given again takes the newer value."""
        try:
            to_json(figures, inf_nan_mode="strings")
        except PydanticSerializationError as error:
            raise InfoRefused(f"info cannot be written as JSON: {error}", hint="Pass plain values.") from error
        if self._figures is None:
            self._figures = {}
        self._figures.update(figures)

    @property
    def child_mode(self) -> ChildMode | None:
        """``concurrent`` or ``serial``; null without children."""
        return self._policy[0] if self._policy and self._has_children else None

    @property
    def on_child_failure(self) -> OnChildFailure | None:
        """``wait`` or ``cancel_siblings``; null without children."""
        return self._policy[1] if self._policy and self._has_children else None

    def spawns_json(self) -> tuple[str, ...]:
        """Children and siblings as JSON arrays, each small enough for one statement."""
        return tuple(f"[{','.join(entries)}]" for entries in _sliced(self._spawns))

    def follow_ups_json(self) -> str | None:
        """Follow-ups as the JSON array that ``complete_task`` takes."""
        return f"[{','.join(self._follow_ups)}]" if self._follow_ups else None

    def info_json(self, *, limit: int = DEFAULT_LIMIT) -> str | None:
        """Figures as a JSON object; raises ``InfoRefused`` when that takes more bytes than ``limit``."""
        if self._figures is None:
            return None
        try:
            return encode(self._figures, "the info", limit=limit)
        except ResultRefused as error:
            raise InfoRefused(str(error)) from error


def _sliced(entries: list[str]) -> Iterator[list[str]]:
    start = size = 0
    for position, text in enumerate(entries):
        if position > start and (position - start == SLICE or size + len(text) > SLICE_BYTES):
            yield entries[start:position]
            start, size = position, 0
        size += len(text)
    if entries:
        yield entries[start:]


def entry(command_json: str, payload_json: str, rest: str) -> str:
    """One element of the arrays: the command, its payload, and further members."""
    return f'{{"command":{command_json},"payload":{payload_json}{rest}}}'


def members(
    *,
    priority: int | None,
    scheduled_at: datetime | None,
    lane: str | None = None,
    is_sibling: bool = False,
    trace: str | None = None,
) -> str:
    """The further members of an entry, as JSON text that follows its payload."""
    text = "" if priority is None else f',"priority":{priority:d}'
    if scheduled_at is not None:
        text += f',"scheduled_at":"{scheduled_at.isoformat()}"'
    if lane is not None:
        text += f',"lane":{to_json(lane).decode()}'
    if trace is not None:
        text += f',"trace":"{trace}"'
    return text + ',"is_sibling":true' if is_sibling else text
