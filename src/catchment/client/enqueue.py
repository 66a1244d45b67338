"""Enqueue many: turns items, or mappings with the name of a command, into the batches that the store sends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from catchment.errors import RequestRefused
from catchment.model.check import shown
from catchment.store.enqueue import Batch
from catchment.store.foreign.types import OWN
from catchment.task.item import Item, check_item, check_items, check_mappings
from catchment.task.task_options import TaskOptions, check_lane

Lanes = None | str | Sequence[str | None] | Callable[[Mapping[str, Any]], str | None]
Dump = Callable[[Mapping[str, Any]], str]


def batches_of_items(name: str, items: Iterable[Item[Any]], options: TaskOptions, batch_size: int) -> Iterator[Batch]:
    """Each batch is made when it is requested, while the server works on the one before."""
    return _of_items(name, iter(check_items(items)), options, batch_size)


def _of_items(name: str, source: Iterator[Item[Any]], options: TaskOptions, batch_size: int) -> Iterator[Batch]:
    checked, lane = options, options.lane  # options of the last item, and its lane: most items share theirs
    while part := list(islice(source, batch_size)):
        lanes: list[str | None] = []
        for item in part:
            if type(item) is not Item:
                check_item(item)
            if item.name != name:
                raise RequestRefused(
                    f"an item of {item.name} is among those of {name}", hint="Call enqueue_many once for each command."
                )
            if item.options is not checked:
                _check_options(name, item.options, options)
                checked = item.options
                lane = checked.lane if checked.lane is not None else options.lane
            lanes.append(lane)
        yield Batch([item.payload for item in part], lanes if any(lanes) else None)


def _check_options(name: str, own: TaskOptions, options: TaskOptions) -> None:
    """Refuse options of an item that cannot be among those of all."""
    for option, given, common in (
        ("priority", own.priority, options.priority),
        ("at", own.at, options.at),
        ("delay", own.delay, options.delay),
    ):
        if given is not None and given != common:
            raise RequestRefused(
                f"{option} of an item of {name} is {shown(given)}, and of all it is {shown(common)}",
                hint=f"An item may have a lane. Others are one for all: {name}.using({option}=…).enqueue_many(…).",
            )
    if own.conn is not OWN and own.conn is not options.conn:
        raise RequestRefused(
            f"conn is given with an item of {name}", hint=f"Give it for all: {name}.using(conn=…).enqueue_many(…)."
        )
    if own.app is not None and own.app is not options.app:
        raise RequestRefused(
            f"app is given with an item of {name}", hint=f"Give it for all: {name}.using(app=…).enqueue_many(…)."
        )


def batches_of_mappings(
    dump: Dump, mappings: Iterable[Mapping[str, Any]], lane: Lanes, batch_size: int
) -> Iterator[Batch]:
    """The arguments of each task, and its lane: one for all, one for each, or a function of the arguments."""
    _check_lanes(lane)
    return _of_mappings(dump, iter(check_mappings(mappings)), lane, batch_size)


def _of_mappings(dump: Dump, source: Iterator[Mapping[str, Any]], lane: Lanes, batch_size: int) -> Iterator[Batch]:
    sent = 0
    while part := list(islice(source, batch_size)):
        dumped = [dump(mapping) for mapping in part]
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
    """The lane of each task of a batch that begins behind ``sent`` others."""
    if lane is None:
        return None
    if isinstance(lane, str):
        return [check_lane(lane)] * len(part)
    if callable(lane):
        return [check_lane(lane(mapping)) for mapping in part]
    given = [check_lane(one) for one in lane[sent : sent + len(part)]]
    if len(given) != len(part):
        raise _uneven(len(lane), sent + len(part))
    return given


def _uneven(lanes: int, tasks: int) -> RequestRefused:
    return RequestRefused(
        f"{lanes} lanes for {tasks} or more tasks, expected one for each",
        hint="Pass one text for all, one for each, or a function of the arguments.",
    )
