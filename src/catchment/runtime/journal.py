"""Counts and logs attempts of Python handlers when their end is recorded, not before: an end may be lost."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence

from catchment.runtime.events import Events
from catchment.runtime.held import Held
from catchment.runtime.metrics import Metrics
from catchment.runtime.words import completed_words, end_words
from catchment.store.attempt import Ending


class Journal:
    """``queues``: those of the commands."""

    def __init__(self, metrics: Metrics, events: Events, queues: Mapping[str, str]) -> None:
        self._queues = queues
        self._metrics = metrics
        self._events = events

    def completed(self, endings: Sequence[Ending]) -> None:
        """Count completed attempts. They are logged if the log level is INFO or below."""
        durations: dict[str, list[float]] = {}
        for ending in endings:
            held = ending.attempt
            seconds = held.seconds if isinstance(held, Held) else 0.0
            durations.setdefault(held.command, []).append(seconds)
        for command, spent in durations.items():
            self._metrics.of_app(command).seconds["completed"].observe_all(spent)
        if self._events.is_heard(logging.INFO) and not self._events.emit_lines(map(_line, endings), level=logging.INFO):
            for ending in endings:
                self._log(ending, "completed", logging.INFO)

    def settled(self, endings: Iterable[Ending], states: Mapping[int, str]) -> None:
        """Count and log recorded attempts; ``states`` has the new state of each task."""
        for ending in endings:
            if ending.asked == "released":
                self._metrics.released += 1
                if ending.failure is not None:
                    self._put_off(ending, ending.failure["message"])
                continue
            state = states[ending.attempt.id]
            level = logging.INFO
            if state == "cancelled":
                outcome = "cancelled"
            elif ending.asked == "snoozed":
                outcome = state = "snoozed"
            elif ending.asked == "completed":
                outcome = "completed"
            elif ending.asked == "interrupted" and state == "interrupted":
                outcome, level = "interrupted", logging.WARNING
            elif state == "pending":
                outcome, level = "retried", logging.WARNING
            else:
                outcome, level = "failed", logging.ERROR
            self._count(ending, outcome)
            if self._events.is_heard(level):
                self._log(ending, state, level)

    def _count(self, ending: Ending, outcome: str) -> None:
        attempt = ending.attempt
        figures = self._metrics.of_app(attempt.command)
        figures.seconds[outcome].observe(attempt.seconds if isinstance(attempt, Held) else 0.0)
        if outcome in ("failed", "retried"):
            figures.failed(str((ending.failure or {}).get("kind", ending.asked)))

    def _put_off(self, ending: Ending, reason: str) -> None:
        self._events.emit(
            "task.put_off",
            f"{ending.attempt.command} {ending.attempt.id} is put off for a moment: {reason}",
            level=logging.WARNING,
            task_id=ending.attempt.id,
            command=ending.attempt.command,
            reason=reason,
        )

    def _log(self, ending: Ending, state: str, level: int) -> None:
        attempt = ending.attempt
        failure = ending.failure or {}
        has_failed = ending.asked == "failed" and state != "cancelled"
        failures, most = (attempt.failures + 1, attempt.max_attempts) if has_failed else (None, None)
        span = attempt.span if isinstance(attempt, Held) else {}
        self._events.emit(
            "task.processed",
            _sentence(ending, state, failures, most),
            level=level,
            task_id=attempt.id,
            command=attempt.command,
            queue=self._queues.get(attempt.command),
            state=state,
            attempt=attempt.attempt,
            failures=failures,
            max_attempts=most,
            again_in=ending.again_in,
            duration_ms=_milliseconds(ending),
            is_join=attempt.phase == 1,
            error=failure.get("message"),
            kind=failure.get("kind"),
            where=failure.get("where"),
            hint=failure.get("hint"),
            trace_id=span.get("trace_id"),
            span_id=span.get("span_id"),
        )

    def fenced(self, endings: Sequence[Ending]) -> None:
        """Count and log endings that were dropped, because another worker has the tasks."""
        self._metrics.fenced_writes += len(endings)
        for ending in endings:
            self._count(ending, "lost")
            self._events.emit(
                "task.fenced",
                f"{ending.attempt.command} {ending.attempt.id}: the claim was lost, its end is dropped",
                level=logging.WARNING,
                task_id=ending.attempt.id,
                fence=ending.attempt.fence,
            )


def _line(ending: Ending) -> str:
    """The words of a completed attempt."""
    held = ending.attempt
    seconds = held.seconds if isinstance(held, Held) else 0.0
    return completed_words(f"{held.command} {held.id}", seconds * 1000, is_join=held.phase == 1)


def _milliseconds(ending: Ending) -> float | None:
    attempt = ending.attempt
    return round(attempt.seconds * 1000, 1) if isinstance(attempt, Held) else None


def _sentence(ending: Ending, state: str, failures: int | None, most: int | None) -> str:
    attempt = ending.attempt
    return end_words(
        f"{attempt.command} {attempt.id}",
        state,
        _milliseconds(ending),
        is_join=attempt.phase == 1,
        error=(ending.failure or {}).get("message"),
        failures=failures,
        max_attempts=most,
        again_in=ending.again_in,
    )
