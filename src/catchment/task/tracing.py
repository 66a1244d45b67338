"""Traces across processes, for applications that have set up OpenTelemetry: an enqueue, the run of its task and the
runs of its children are spans of one trace. A W3C traceparent travels with the task.

Without a tracer provider nothing is made: each place asks once whether there is one, and continues.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from opentelemetry import context, trace
from opentelemetry.trace import NoOpTracerProvider, ProxyTracerProvider, SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

if TYPE_CHECKING:
    from collections.abc import Generator

SPAN_FIELDS = ("trace_id", "span_id")
_NAME = "catchment"
_TRACEPARENT = "traceparent"
_PROPAGATOR = TraceContextTextMapPropagator()
_NONE = (ProxyTracerProvider, NoOpTracerProvider)
_OFF: AbstractContextManager[None] = nullcontext()


def is_on() -> bool:
    """Has the application set a tracer provider?"""
    return type(trace.get_tracer_provider()) not in _NONE


def current_trace() -> str | None:
    """The traceparent of the span that is current here, or None."""
    return _current() if is_on() else None


def span_fields() -> dict[str, str]:
    """The ids of the current span, in hexadecimal digits as in a traceparent; empty if there is none."""
    current = trace.get_current_span().get_span_context()
    if not current.is_valid:
        return {}
    return {"trace_id": trace.format_trace_id(current.trace_id), "span_id": trace.format_span_id(current.span_id)}


def enter(traceparent: str | None) -> None:
    """Make the span of another process the current one here, if there is one."""
    if traceparent is not None:
        context.attach(_PROPAGATOR.extract({_TRACEPARENT: traceparent}))


def enqueuing(command: str) -> AbstractContextManager[str | None]:
    """A producer span around an enqueue; gives the traceparent to send with the task, or None."""
    return _enqueuing(command) if is_on() else _OFF


def running(
    command: str, *, trace: str | None, task_id: int, queue: str, attempt: int
) -> AbstractContextManager[object]:
    """A consumer span around a handler that continues the trace of its task. An error of the handler is recorded."""
    if not is_on():
        return _OFF
    attributes = {
        "catchment.task_id": task_id,
        "catchment.command": command,
        "catchment.queue": queue,
        "catchment.attempt": attempt,
    }
    return _running(f"run {command}", trace, attributes)


def _current() -> str | None:
    carrier: dict[str, str] = {}
    _PROPAGATOR.inject(carrier)
    return carrier.get(_TRACEPARENT)


@contextmanager
def _enqueuing(command: str) -> Generator[str | None]:
    attributes = {"catchment.command": command}
    with trace.get_tracer(_NAME).start_as_current_span(
        f"enqueue {command}", kind=SpanKind.PRODUCER, attributes=attributes
    ):
        yield _current()


def _running(name: str, traceparent: str | None, attributes: dict[str, str | int]) -> AbstractContextManager[object]:
    # What the enqueuing span said stands alone: a span that happens to be current in this worker is not its parent.
    parent = _PROPAGATOR.extract({} if traceparent is None else {_TRACEPARENT: traceparent})
    return trace.get_tracer(_NAME).start_as_current_span(
        name, context=parent, kind=SpanKind.CONSUMER, attributes=attributes
    )
