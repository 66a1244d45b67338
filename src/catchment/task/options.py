"""The options of a command, checked when it is defined."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, get_args

from catchment.errors import DefinitionRefused
from catchment.model.check import LARGEST_INTEGER, MOST_BYTES, is_one_of, is_text, shown
from catchment.model.duration import LONGEST, Duration
from catchment.task.limit import Limit, as_defined_timedelta, as_names

Executor = Literal["auto", "async", "thread", "process", "ray"]
OnFailure = Literal["continue", "halt", "cancel_rest"]
MergeRule = str | Mapping[str, str]

MERGE_OPERATIONS = ("union", "range_union", "min", "max", "add", "last")
_ORDERED = ("numeric", "date", "timestamptz", "text")
MERGE_TYPES = {
    "min": _ORDERED,
    "max": _ORDERED,
    "range_union": ("int8multirange", "nummultirange", "datemultirange", "tstzmultirange"),
}
LARGEST_FACTOR = 1_000_000
# Ray refuses a smaller part of a resource, and one and a half GPUs, but only when the task is sent.
LEAST_PART = 0.0001


def _refuse_unless(holds: bool, name: str, value: object, expected: str) -> None:
    if not holds:
        raise DefinitionRefused(f"{name} is {shown(value)}, expected {expected}")


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST_INTEGER


def _is_a(kind: type, value: object) -> bool:
    """As isinstance, which a checker takes for known: callers are not all typed."""
    return isinstance(value, kind)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class Retry:
    """The delays between the attempts of a task. Times are seconds or timedeltas.

    The first retry comes after ``delay``, each further one after ``factor`` times as long, at most ``max_delay``.
    ``jitter`` randomizes each delay by that share, so that tasks that failed together are not retried together.
    """

    delay: Duration = timedelta(seconds=1)
    factor: float = 2.0
    max_delay: Duration = timedelta(seconds=60)
    jitter: float = 0.1

    def __post_init__(self) -> None:
        for name in ("delay", "max_delay"):
            span = as_defined_timedelta(getattr(self, name), name=f"{name} of a Retry")
            object.__setattr__(self, name, span)
        fits = _is_number(self.factor) and 1 <= self.factor <= LARGEST_FACTOR
        _refuse_unless(fits, "factor of a Retry", self.factor, f"a number from 1 to {LARGEST_FACTOR}")
        fits = _is_number(self.jitter) and 0 <= self.jitter <= 1
        _refuse_unless(fits, "jitter of a Retry", self.jitter, "a share between 0 and 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandOptions:
    """How tasks of a command are queued, retried, merged and run. Registered with the command."""

    queue: str = "default"
    priority: int = 100
    max_attempts: int = 1
    retry: Retry = field(default_factory=Retry)
    timeout: timedelta | None = None
    dedup: tuple[str, ...] | None = None
    merge: Mapping[str, MergeRule] = field(default_factory=lambda: types.MappingProxyType({}))
    on_failure: OnFailure | None = None
    limit: Limit | None = None
    executor: Executor = "auto"
    num_cpus: float | None = None
    num_gpus: float | None = None
    memory: int | None = None
    description: str | None = None

    def __post_init__(self) -> None:
        check_name("queue", self.queue)
        wide = f"an integer from {-LARGEST_INTEGER} to {LARGEST_INTEGER}; smaller runs first"
        _refuse_unless(_is_integer(self.priority), "priority", self.priority, wide)
        enough = _is_integer(self.max_attempts) and self.max_attempts >= 1
        _refuse_unless(enough, "max_attempts", self.max_attempts, f"an integer from 1 to {LARGEST_INTEGER}")
        _refuse_unless(_is_a(Retry, self.retry), "retry", self.retry, "a catchment.Retry")
        _refuse_unless(self.limit is None or _is_a(Limit, self.limit), "limit", self.limit, "a catchment.Limit")
        fits = self.timeout is None or timedelta() < self.timeout <= LONGEST
        _refuse_unless(fits, "timeout", self.timeout, "more than zero and at most 100 years")
        known = get_args(OnFailure)
        fits = self.on_failure is None or is_one_of(self.on_failure, known)
        _refuse_unless(fits, "on_failure", self.on_failure, f"one of {(None, *known)}")
        known = get_args(Executor)
        _refuse_unless(is_one_of(self.executor, known), "executor", self.executor, f"one of {known}")
        self._check_resources()
        fits = self.description is None or is_text(self.description)
        _refuse_unless(fits, "description", self.description, "a text without NUL and lone surrogates")
        self._check_merge()
        if self.limit is not None and self.dedup is not None:
            raise DefinitionRefused(
                "limit and dedup are both given: deduplicated tasks cannot be limited individually",
                hint="Limit the queue instead: app.queue(name, max_running=…).",
            )

    @property
    def resources(self) -> dict[str, float | None]:
        """What a task of Ray takes of the cluster; None for the default of Ray."""
        return {"num_cpus": self.num_cpus, "num_gpus": self.num_gpus, "memory": self.memory}

    def _check_resources(self) -> None:
        given = {name: value for name, value in self.resources.items() if value is not None}
        if given and self.executor != "ray":
            raise DefinitionRefused(
                f"{', '.join(given)} is given for executor={self.executor!r}, which takes nothing of a cluster",
                hint="Resources are for executor='ray'.",
            )
        for name in ("num_cpus", "num_gpus"):
            value = given.get(name, 0)
            fits = _is_number(value) and (value == 0 or LEAST_PART <= value <= LARGEST_FACTOR)
            _refuse_unless(fits, name, value, f"0 or a number from {LEAST_PART} to {LARGEST_FACTOR}")
        gpus = given.get("num_gpus", 0)
        _refuse_unless(gpus <= 1 or gpus == int(gpus), "num_gpus", gpus, "a part of one GPU or a whole number")
        fits = self.memory is None or (type(self.memory) is int and 0 < self.memory < MOST_BYTES)
        _refuse_unless(fits, "memory", self.memory, f"a number of bytes from 1 to {MOST_BYTES - 1}")

    def _check_merge(self) -> None:
        fits = _is_a(Mapping, self.merge) and all(_is_a(str, key) for key in self.merge)
        _refuse_unless(fits, "merge", self.merge, "a mapping of parameters to rules")
        if self.merge and self.dedup is None:
            raise DefinitionRefused(
                "merge is given without dedup, so no two tasks are ever the same work",
                hint="Name the parameters that make them so: dedup=('customer_id',); dedup=() for the command alone.",
            )
        for key, rule in self.merge.items():
            _check_rule(key, rule)

    def check_keys(self, command: str, parameters: Iterable[str]) -> None:
        """Refuse dedup, merge and limit keys that are no parameters of the handler."""
        known = tuple(parameters)
        limited = () if self.limit is None else self.limit.keys
        for option, keys in (("dedup", self.dedup or ()), ("merge", self.merge), ("limit", limited)):
            unknown = [key for key in keys if key not in known]
            if unknown:
                raise DefinitionRefused(
                    f"{option} of {command} names {', '.join(unknown)}, which its handler does not take",
                    hint=f"Its parameters are: {', '.join(known) or 'none'}.",
                )


def _check_rule(key: str, rule: Any) -> None:
    what = f"merge rule of {key!r}"
    parts: dict[Any, Any] = {"op": rule}
    if _is_a(Mapping, rule):
        parts = dict(rule)
    operation = parts.pop("op", None)
    _refuse_unless(is_one_of(operation, MERGE_OPERATIONS), what, rule, f"one of {MERGE_OPERATIONS}")
    if "type" in parts:
        known = MERGE_TYPES.get(operation, ())
        expected = f"a type of {known}" if known else f"no type, which {operation} does not have"
        _refuse_unless(is_one_of(parts.pop("type"), known), what, rule, expected)
    _refuse_unless(not parts, what, rule, "nothing but op and type")


def check_name(what: str, name: Any) -> None:
    """A queue or command name as the registries take it."""
    fits = is_text(name) and 0 < len(name) <= 200
    _refuse_unless(fits, what, name, "a name of 1 to 200 characters without NUL and lone surrogates")


def as_dedup(dedup: str | Iterable[str] | None) -> tuple[str, ...] | None:
    """Dedup keys as a tuple; a single name stands for itself."""
    return None if dedup is None else as_names("dedup", dedup)
