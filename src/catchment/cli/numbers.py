"""The largest numbers that options take."""

from __future__ import annotations

from datetime import timedelta

from catchment.model.duration import LONGEST

MOST_DAYS = LONGEST / timedelta(days=1)
MOST_HOURS = LONGEST / timedelta(hours=1)
MOST_SECONDS = LONGEST.total_seconds()
MOST_PROCESSES = 10_000
MOST_ROWS = 1_000_000
