"""Which task, and which span, a log record comes from."""

from __future__ import annotations

import logging

from catchment.task.inside import FIELDS, task_fields
from catchment.task.tracing import SPAN_FIELDS, span_fields

_NOTHING = dict.fromkeys((*FIELDS, *SPAN_FIELDS))


class TaskFilter(logging.Filter):
    """A filter for a ``logging.Handler``: gives each record ``command``, ``task_id``, ``attempt``, ``queue`` and
    ``worker_id`` of the task whose handler it comes from, and ``trace_id`` and ``span_id`` of the current span of
    OpenTelemetry.

    All are None outside a handler, so a format string can always name them. Values from ``extra`` are kept. Every
    record passes.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        record.__dict__ = {**_NOTHING, **task_fields(), **span_fields(), **record.__dict__}
        return True
