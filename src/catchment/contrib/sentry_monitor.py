"""Schedules as monitors of Sentry."""

from __future__ import annotations

import re
import time
import uuid
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from sentry_sdk.crons import capture_checkin

from catchment.store.schedule import MadeBy

if TYPE_CHECKING:
    from sentry_sdk._types import MonitorConfig

Status = Literal["in_progress", "ok", "error"]
LONGEST_SLUG = 50
_UNITS: tuple[tuple[Literal["day", "hour", "minute"], timedelta], ...] = (
    ("day", timedelta(days=1)),
    ("hour", timedelta(hours=1)),
    ("minute", timedelta(minutes=1)),
)


@dataclass(frozen=True, slots=True)
class Monitor:
    """The monitor of a schedule, for one of its tasks. All attempts of a task are one check-in."""

    slug: str
    config: MonitorConfig
    check_in_id: str
    since: float = field(default_factory=time.monotonic)

    def check_in(self, status: Status) -> None:
        capture_checkin(
            monitor_slug=self.slug,
            check_in_id=self.check_in_id,
            status=status,
            duration=None if status == "in_progress" else time.monotonic() - self.since,
            monitor_config=self.config,
        )


def monitor_of(made_by: MadeBy, task_id: int) -> Monitor | None:
    """The monitor; None for an interval that is not of whole minutes, which Sentry does not know."""
    config = _config(made_by)
    slug = re.sub(r"[^a-z0-9_-]+", "-", made_by.name.lower()).strip("-")[:LONGEST_SLUG]
    if config is None or not slug:
        return None
    check_in = uuid.uuid5(uuid.NAMESPACE_URL, f"catchment:{made_by.name}:{task_id}")
    return Monitor(slug, config, check_in.hex)


def _config(made_by: MadeBy) -> MonitorConfig | None:
    if made_by.cron is not None:
        return {"schedule": {"type": "crontab", "value": made_by.cron}, "timezone": made_by.timezone}
    for name, unit in _UNITS:
        if made_by.every is not None and made_by.every % unit == timedelta():
            return {"schedule": {"type": "interval", "value": made_by.every // unit, "unit": name}}
    return None
