"""Sentry: the errors of tasks with their command, task and attempt, and check-ins of scheduled tasks.

A middleware keeps what a handler raised, with its scope. It is reported when the worker logs the end of the attempt:
only then is it known whether the task has failed, will be retried, or was only interrupted. So each failure is one
event, also of SQL handlers, of time limits, and of arguments that no handler saw.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import sentry_sdk
from sentry_sdk.integrations.logging import ignore_logger
from sentry_sdk.scope import Scope, use_isolation_scope
from sentry_sdk.utils import capture_internal_exceptions

from catchment.client.app import App
from catchment.contrib.sentry_monitor import Monitor, monitor_of
from catchment.errors import CatchmentError
from catchment.task.context import Context
from catchment.task.inside import FIELDS, task_fields

EVENTS = "catchment.worker"
# Ends that are never logged, such as those of lost claims, must not gather here.
MOST_KEPT = 1000
LOOK_SECONDS = 60.0


def report_to_sentry(app: App, *, retries: bool = False, check_ins: bool = True) -> None:
    """Report the failed tasks of an app to Sentry, after ``sentry_sdk.init``.

    - ``retries``: report failed attempts that will be retried as well, as warnings
    - ``check_ins``: tell Sentry about the runs of schedules, which become its monitors

    Other errors that the worker logs are reported too, once for all apps of a process.
    """
    app.middleware(_Middleware(app, _reports(), retries=retries, check_ins=check_ins))


class _Raised:
    """What a handler raised, and in which scope; and the monitor of its task."""

    __slots__ = ("error", "monitor", "retries", "scope")

    def __init__(self, scope: Scope, retries: bool) -> None:
        self.scope = scope
        self.retries = retries
        self.error: BaseException | None = None
        self.monitor: Monitor | None = None


class _Reports(logging.Handler):
    """Turns the errors that a worker logs into events of Sentry."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._kept: OrderedDict[tuple[int, int], _Raised] = OrderedDict()

    def keep(self, context: Context, raised: _Raised) -> None:
        """Remember what a handler raised until its end is logged."""
        self._kept[context.task_id, context.attempt] = raised
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)

    def emit(self, record: logging.LogRecord) -> None:
        with capture_internal_exceptions():  # the other handlers get the record all the same
            fields: dict[str, Any] = getattr(record, "fields", {})
            if getattr(record, "event", None) == "task.processed":
                self._report_end(record, fields, self._kept.pop((fields["task_id"], fields.get("attempt", 0)), None))
            elif record.levelno >= logging.ERROR:
                self._report(record, fields)

    def _report_end(self, record: logging.LogRecord, fields: dict[str, Any], raised: _Raised | None) -> None:
        is_final = fields["state"] == "failed"
        if raised is not None and raised.monitor is not None and is_final:
            raised.monitor.check_in("error")
        if not is_final and (raised is None or not raised.retries or fields["state"] != "pending"):
            return
        with sentry_sdk.isolation_scope() if raised is None else use_isolation_scope(raised.scope) as scope:
            _describe(scope, fields)
            scope.set_level("error" if is_final else "warning")
            error = None if raised is None else raised.error
            if error is not None and type(error).__name__ == fields.get("kind"):
                sentry_sdk.capture_exception(error)
            else:
                self._report_unseen(scope, record, fields, error)

    def _report_unseen(
        self, scope: Scope, record: logging.LogRecord, fields: dict[str, Any], error: BaseException | None
    ) -> None:
        """A failure that no exception here is of: a SQL handler, a process, a time limit, arguments that do not fit."""
        described: dict[str, Any] = getattr(error, "described", {})
        scope.set_context("error", {name: described[name] for name in ("where", "context") if name in described})
        kind = str(fields.get("kind") or "SQL")
        sentry_sdk.capture_event(
            {
                "exception": {"values": [{"type": kind, "value": fields.get("error")}]},
                "fingerprint": ["catchment", str(fields["command"]), kind],
                "logger": record.name,
            }
        )

    def _report(self, record: logging.LogRecord, fields: dict[str, Any]) -> None:
        event = str(getattr(record, "event", record.name))
        with sentry_sdk.isolation_scope() as scope:
            _describe(scope, fields)
            scope.set_tag("event", event)
            scope.fingerprint = ["catchment", event, str(fields.get("command", ""))]
            sentry_sdk.capture_message(record.getMessage(), level="error")


class _Middleware:
    """Around each handler: a scope with its task, and check-ins if a schedule made the task."""

    def __init__(self, app: App, reports: _Reports, *, retries: bool, check_ins: bool) -> None:
        self._app = app
        self._reports = reports
        self._retries = retries
        self._has_check_ins = check_ins
        self._scheduled: frozenset[str] | None = None
        self._looks_at = 0.0

    async def __call__(self, ctx: Context, call: Callable[[], Awaitable[Any]]) -> Any:
        with sentry_sdk.isolation_scope() as scope:
            scope.clear_breadcrumbs()
            scope.add_event_processor(_without_payloads)
            _describe(scope, task_fields())
            scope.set_transaction_name(ctx.command, source="task")
            raised = _Raised(scope, self._retries)
            raised.monitor = await self._monitor(ctx) if self._has_check_ins and ctx.parent_id is None else None
            if raised.monitor is not None:
                raised.monitor.check_in("in_progress")
            try:
                value = await call()
            except BaseException as error:
                raised.error = error
                self._reports.keep(ctx, raised)
                raise
            # With children it is over when they are: a join says so.
            if raised.monitor is not None and ctx.snoozed is None and (ctx.is_join or not ctx.has_children):
                raised.monitor.check_in("ok")
            return value

    async def _monitor(self, ctx: Context) -> Monitor | None:
        try:
            if time.monotonic() >= self._looks_at:
                if self._scheduled is not None:  # others go by what is known meanwhile
                    self._looks_at = time.monotonic() + LOOK_SECONDS
                self._scheduled = await self._app.verbs.scheduled_commands()
                self._looks_at = time.monotonic() + LOOK_SECONDS
            if self._scheduled is None or ctx.command not in self._scheduled:
                return None
            made_by = await self._app.verbs.made_by(ctx.task_id, ctx.command)
        except (psycopg.Error, CatchmentError):  # Sentry misses a check-in; the task must not fail of it
            return None
        return None if made_by is None else monitor_of(made_by, ctx.task_id)


def _reports() -> _Reports:
    """The one of this process. Sentry's own handler of logs leaves these events to it."""
    logger = logging.getLogger(EVENTS)
    ignore_logger(EVENTS)
    for handler in logger.handlers:
        if isinstance(handler, _Reports):
            return handler
    made = _Reports()
    logger.addHandler(made)
    return made


def _describe(scope: Scope, fields: dict[str, Any]) -> None:
    scope.set_tags({name: fields[name] for name in FIELDS if fields.get(name) is not None})


def _without_payloads(event: Any, hint: Any) -> Any:  # noqa: ARG001 - Sentry passes both
    """Frames of Catchment keep no variables: they have the arguments of the handler in dicts, which Sentry's scrubber
    does not look into. The frames of the handler keep theirs, scrubbed as anywhere else."""
    parts: list[dict[str, Any]] = [event[name] for name in ("exception", "threads") if event.get(name)]
    values: list[dict[str, Any]] = [value for part in parts for value in part.get("values", ())]
    stacks: list[dict[str, Any]] = [value["stacktrace"] for value in values if value.get("stacktrace")]
    for stack in stacks:
        frames: list[dict[str, Any]] = stack.get("frames", [])
        for frame in frames:
            if str(frame.get("module")).startswith("catchment."):
                frame.pop("vars", None)
    return event
