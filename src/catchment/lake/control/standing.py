"""How dynamic tables stand, for gauges: a connection for one question, with short time limits."""

from __future__ import annotations

from dataclasses import dataclass

from catchment.store.connect import connect_ours

SUSPENDERS = ("user", "failures", "upstream")
_STANDING = """
select t.dynamic_table, extract(epoch from t.lag)::float8, extract(epoch from t.effective_lag)::float8,
       t.error_streak, case when t.scheduling_state = 'SUSPENDED' then t.suspended_by end
  from lake.tables as t
 order by extract(epoch from t.lag) / nullif(extract(epoch from t.effective_lag), 0) desc nulls first, t.dynamic_table
 limit 1000
"""


@dataclass(frozen=True, slots=True)
class TableStanding:
    """One table. ``lag_seconds``: None before its first refresh. ``failures``: how many scheduled refreshes in a row
    failed. ``suspended_by``: one of ``SUSPENDERS``, None if it is not suspended."""

    name: str
    lag_seconds: float | None
    target_lag_seconds: float | None
    failures: int
    suspended_by: str | None


def read_standing(dsn: str) -> list[TableStanding]:
    """All tables, or the 1,000 that are latest; raises within seconds when the database is away or busy."""
    with connect_ours(dsn, name="catchment metrics", seconds=2) as conn:
        conn.execute("set statement_timeout = '2s'")
        return [TableStanding(*row) for row in conn.execute(_STANDING)]
