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
    check_payloads,
    check_priority,
    check_workflow,
    command_name,
    payload_json,
    whole_payload,
)

AnyCommand = Command[..., Any] | str
Workflows = None | str | Sequence[str | None] | Callable[[Mapping[str, Any]], str | None]


@dataclass(frozen=True, slots=True)
class One:
    """One task to be made."""

    command: str
    payload: str
    workflow: str | None
    when: When


def prepare_one(
    command: AnyCommand,
    payload: Mapping[str, Any] | None,
    arguments: Mapping[str, Any],
    *,
    workflow: str | None,
    when: When,
) -> One:
    """Check everything that can be checked without the server."""
    name = command_name(command)
    text = payload_json(command, whole_payload(payload, arguments))
    return One(name, text, check_workflow(workflow), when)


def prepare_when(priority: int | None, at: datetime | None, delay: Duration | None) -> When:
    """Priority and due time, checked."""
    return When(check_priority(priority), at, check_due(at, delay))


def prepare_batches(
    command: AnyCommand, payloads: Iterable[Mapping[str, Any]], workflow: Workflows, batch_size: int
) -> Iterator[Batch]:
    """Payloads as JSON text; each batch is made when it is asked for, while the server works on the one before."""
    size = check_count(batch_size, name="batch_size")
    _check_workflows(workflow)
    return _batches(command, iter(check_payloads(payloads)), workflow, size)


def _batches(
    command: AnyCommand, source: Iterator[Mapping[str, Any]], workflow: Workflows, batch_size: int
) -> Iterator[Batch]:
    sent = 0
    while part := list(islice(source, batch_size)):
        dumped = [payload_json(command, payload) for payload in part]
        yield Batch(dumped, _workflows(workflow, part, sent))
        sent += len(part)
    if workflow is None or isinstance(workflow, str) or callable(workflow):
        return
    if len(workflow) != sent:
        raise _uneven(len(workflow), sent)


def _check_workflows(workflow: Any) -> None:
    """One for all; those of a sequence or a function are checked with their batch."""
    if workflow is None or isinstance(workflow, str):
        check_workflow(workflow)
    elif isinstance(workflow, bytes) or not (isinstance(workflow, Sequence) or callable(workflow)):
        raise RequestRefused(f"workflow is {shown(workflow)}, expected one text, a sequence of them, or a function")  # pyright: ignore[reportUnknownArgumentType] - it can be anything


def _workflows(workflow: Workflows, part: Sequence[Mapping[str, Any]], sent: int) -> list[str | None] | None:
    """The workflow of each payload of a batch that begins behind ``sent`` others."""
    if workflow is None:
        return None
    if isinstance(workflow, str):
        return [check_workflow(workflow)] * len(part)
    if callable(workflow):
        return [check_workflow(workflow(payload)) for payload in part]
    given = [check_workflow(one) for one in workflow[sent : sent + len(part)]]
    if len(given) != len(part):
        raise _uneven(len(workflow), sent + len(part))
    return given


def _uneven(workflows: int, payloads: int) -> RequestRefused:
    return RequestRefused(
        f"{workflows} workflows for {payloads} or more payloads, expected one for each",
        hint="Pass one text for all, one for each, or a function of the payload.",
    )
