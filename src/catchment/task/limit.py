"""Limits that all workers keep together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from catchment.errors import DefinitionRefused, RequestRefused
from catchment.model.check import LARGEST_INTEGER, is_one_of, shown
from catchment.model.duration import LONGEST, Duration, as_timedelta

# A depth is stored as smallint.
DEEPEST = 32_767


@dataclass(frozen=True, slots=True)
class Limit:
    """At most ``max_running`` tasks at a time, or ``rate`` starts in each ``per``, or both, over all workers.

    ``key`` names the parameters whose values are limited separately: ``Limit("customer_id", max_running=2)`` lets two
    tasks of each customer run. Without a key the limit applies to the whole command. A task holds its place from when
    it may start until it has settled, its children and retries included; a retry is not counted as a start.
    """

    key: str | Iterable[str] = ()
    max_running: int | None = None
    rate: int | None = None
    per: Duration = timedelta(seconds=1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "per", as_defined_timedelta(self.per, name="per of a Limit", takes_zero=False))
        if self.max_running is None and self.rate is None:
            raise DefinitionRefused("a Limit limits nothing", hint="Pass max_running=, rate=, or both.")
        check_limits("a Limit", self.max_running, self.rate, self.per)
        if not isinstance(self.key, str):
            object.__setattr__(self, "key", as_names("key of a Limit", self.key))

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the parameters, as a tuple."""
        return (self.key,) if isinstance(self.key, str) else tuple(self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueOptions:
    """What an app says about one of its queues; None leaves it as it is, or as a new queue is."""

    mode: str | None = None
    concurrency: int | None = None
    max_depth: int | None = None
    on_failure: str | None = None
    max_running: int | None = None
    rate: int | None = None
    per: timedelta = timedelta(seconds=1)

    def __post_init__(self) -> None:
        if self.mode is not None and not is_one_of(self.mode, ("serial", "concurrent")):
            raise DefinitionRefused(f"mode of a queue is {shown(self.mode)}, expected 'serial' or 'concurrent'")
        if self.on_failure is not None and not is_one_of(self.on_failure, ("continue", "halt", "cancel_rest")):
            raise DefinitionRefused(
                f"on_failure of a queue is {shown(self.on_failure)}, expected 'continue', 'halt' or 'cancel_rest'"
            )
        _check_count("a queue", "concurrency", self.concurrency)
        _check_count("a queue", "max_depth", self.max_depth, most=DEEPEST)
        check_limits("a queue", self.max_running, self.rate, self.per)

    def definition(self, queue: str) -> dict[str, Any]:
        """The queue as ``worker.register_commands`` takes it."""
        said: dict[str, Any] = {
            "mode": self.mode,
            "concurrency": self.concurrency,
            "max_depth": self.max_depth,
            "on_failure": self.on_failure,
            "max_running": self.max_running,
            "rate": self.rate,
        }
        if self.rate is not None:
            said["rate_per"] = f"{self.per // timedelta(microseconds=1)} microseconds"
        return {"queue": queue, **{name: value for name, value in said.items() if value is not None}}


def as_defined_timedelta(value: Any, *, name: str, takes_zero: bool = True) -> timedelta:
    """A number of seconds, or a timedelta, of a definition."""
    try:
        return as_timedelta(value, name=name, takes_zero=takes_zero)
    except RequestRefused as error:
        raise DefinitionRefused(str(error)) from error


def check_limits(what: str, max_running: int | None, rate: int | None, per: Duration) -> None:
    """Refuse numbers that limit nothing or everything."""
    _check_count(what, "max_running", max_running)
    _check_count(what, "rate", rate)
    if not isinstance(per, timedelta) or not timedelta() < per <= LONGEST:  # pyright: ignore[reportUnnecessaryIsInstance] - callers are not all typed
        expected = "a timedelta of more than zero, at most 100 years"
        raise DefinitionRefused(f"per of {what} is {shown(per)}, expected {expected}")


def _check_count(what: str, name: str, value: object, *, most: int = LARGEST_INTEGER) -> None:
    if value is not None and not (isinstance(value, int) and value is not True and 1 <= value <= most):
        raise DefinitionRefused(f"{name} of {what} is {shown(value)}, expected an integer from 1 to {most}")


def as_names(what: str, value: Any) -> tuple[str, ...]:
    """Names of parameters, in the order given; a single one stands for itself."""
    given: Any = value
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Iterable) and not isinstance(value, Mapping | bytes | bytearray):
        names = tuple(given)
        if all(isinstance(name, str) for name in names):
            # A set has another order in every process.
            return tuple(sorted(names)) if isinstance(value, Set) else names
        given = names
    raise DefinitionRefused(f"{what} is {shown(given)}, expected the name of a parameter, or a sequence of names")
