"""Enqueue: turns what a caller passes into what the store sends. The two clients differ in how they send it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from catchment.errors import RequestRefused
from catchment.model.check import check_count, shown
from catchment.model.duration import Duration, check_due
from catchment.store.enqueue import Batch, When
from catchment.task.command import Command
from catchment.task.request import (
    check_lane,
    check_payloads,
    check_priority,
    command_name,
    payload_json,
    whole_payload,
)

AnyCommand = Command[..., Any] | str
Lanes = None | str | Sequence[str | None] | Callable[[Mapping[str, Any]], str | None]


@dataclass(frozen=True, slots=True)
class One:
    """One task to be made."""

    command: str
    payload: str
    lane: str | None
    when: When


def prepare_one(
    command: AnyCommand,
    payload: Mapping[str, Any] | None,
    arguments: Mapping[str, Any],
    *,
    lane: str | None,
    when: When,
) -> One:
    """Check everything that can be checked without the server."""
    name = command_name(command)
    text = payload_json(command, whole_payload(payload, arguments))
    return One(name, text, check_lane(lane), when)


def prepare_when(priority: int | None, at: datetime | None, delay: Duration | None) -> When:
    """Priority and due time, checked."""
    return When(check_priority(priority), at, check_due(at, delay))


def prepare_batches(
    command: AnyCommand, payloads: Iterable[Mapping[str, Any]], lane: Lanes, batch_size: int
) -> Iterator[Batch]:
    """Payloads as JSON text; each batch is made when it is asked for, while the server works on the one before."""
    size = check_count(batch_size, name="batch_size")
    _check_lanes(lane)
    return _batches(command, iter(check_payloads(payloads)), lane, size)


def _batches(command: AnyCommand, source: Iterator[Mapping[str, Any]], lane: Lanes, batch_size: int) -> Iterator[Batch]:
    sent = 0
    while part := list(islice(source, batch_size)):
        dumped = [payload_json(command, payload) for payload in part]
        yield Batch(dumped, _lanes(lane, part, sent))
        sent += len(part)
    if lane is None or isinstance(lane, str) or callable(lane):
        return
    if len(lane) != sent:
        raise _uneven(len(lane), sent)


def _check_lanes(lane: Any) -> None:
    """One for all; those of a sequence or a function are checked with their batch."""
    if lane is None or isinstance(lane, str):
        check_lane(lane)
    elif isinstance(lane, bytes) or not (isinstance(lane, Sequence) or callable(lane)):
        raise RequestRefused(f"lane is {shown(lane)}, expected one text, a sequence of them, or a function")  # pyright: ignore[reportUnknownArgumentType] - it can be anything


def _lanes(lane: Lanes, part: Sequence[Mapping[str, Any]], sent: int) -> list[str | None] | None:
    """The lane of each payload of a batch that begins behind ``sent`` others."""
    if lane is None:
        return None
    if isinstance(lane, str):
        return [check_lane(lane)] * len(part)
    if callable(lane):
        return [check_lane(lane(payload)) for payload in part]
    given = [check_lane(one) for one in lane[sent : sent + len(part)]]
    if len(given) != len(part):
        raise _uneven(len(lane), sent + len(part))
    return given


def _uneven(lanes: int, payloads: int) -> RequestRefused:
    return RequestRefused(
        f"{lanes} lanes for {payloads} or more payloads, expected one for each",
        hint="Pass one text for all, one for each, or a function of the payload.",
    )
