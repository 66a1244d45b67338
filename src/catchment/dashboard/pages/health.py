"""*Health*: the findings of ``catchment doctor``, each with the command that mends it, and what they are about."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import Field

from catchment.dashboard.database import Reader, Row
from catchment.dashboard.screen import Answer, Query, Screen
from catchment.doctor import read_health
from catchment.model.release import VERSION
from catchment.model.remedy import ways_of

# All pages that are open share one look.
SECONDS = 5.0
_RANKS = {"error": 0, "warning": 1, "info": 2}


class HealthQuery(Query):
    """The screen takes no parameters."""


class Finding(Answer):
    """Something that is wrong, or that an operator should know."""

    level: str = Field(description="error, warning or info")
    subject: str
    finding: str
    remedy: str = Field(
        description="What to do: a command per line, with what it does as a comment, or a comment alone."
    )
    commands: list[str] = Field(description="What can be typed, of the remedy.")
    advice: str = Field(description="What the remedy says besides its commands.")


class TableSize(Answer):
    """A table. Rows are as the statistics of the server have them."""

    name: str
    bytes: int = Field(description="With its indexes.")
    live: int
    dead: int
    vacuumed_at: datetime | None
    analyzed_at: datetime | None


class Transaction(Answer):
    """A transaction that is open for more than five seconds."""

    pid: int
    login: str | None
    application: str | None
    state: str | None
    since: datetime
    has_snapshot: bool = Field(description="It keeps rows alive that were deleted since.")
    waits_for: str | None


class Migration(Answer):
    """A migration of the schema that was applied."""

    number: int
    name: str
    applied_at: datetime


class WorkerVersion(Answer):
    """How many workers run a version."""

    version: str
    workers: int


class HealthAnswer(Answer):
    """The findings, and figures of the server. Sessions of other users are seen if the login has pg_monitor."""

    at: datetime
    findings: list[Finding]
    are_rules_checked: bool = Field(description="False in a large database: catchment doctor --deep checks them.")
    notify_seconds: float | None = Field(description="How long a notification takes; null if it does not come back.")
    notification_usage: float = Field(description="Share of the room for notifications in use, 0 to 1.")
    oldest_snapshot_at: datetime | None
    transactions: list[Transaction]
    tables: list[TableSize]
    database_bytes: int
    connections: int
    max_connections: int
    postgres: str
    postgres_started_at: datetime
    catchment: str = Field(description="The version of this dashboard.")
    schema_release: str | None = Field(description="The version that wrote the functions of the schema.")
    worker_versions: list[WorkerVersion]
    migrations: list[Migration]


async def read(reader: Reader, _query: HealthQuery) -> HealthAnswer:
    at, health = await reader.aside.look("health", SECONDS, lambda conn: (datetime.now(UTC), read_health(conn)))
    findings = [_finding(row) for row in health.findings]
    return HealthAnswer(
        at=at,
        findings=sorted(findings, key=lambda finding: (_RANKS.get(finding.level, 2), finding.subject)),
        are_rules_checked=health.are_rules_checked,
        notify_seconds=health.notify_seconds,
        transactions=[Transaction(**row) for row in health.transactions],
        tables=[TableSize(**row) for row in health.tables],
        catchment=VERSION,
        **health.facts,
    )


def _finding(row: Row) -> Finding:
    ways = ways_of(row["remedy"])
    advice = " ".join(way.what for way in ways if not way.command)
    return Finding(**row, commands=[way.command for way in ways if way.command], advice=advice)


def _title(answer: HealthAnswer) -> str:
    errors, warnings = (sum(finding.level == level for finding in answer.findings) for level in ("error", "warning"))
    parts = [
        f"{number} {word if number == 1 else word + 's'}"
        for number, word in ((errors, "error"), (warnings, "warning"))
        if number
    ]
    return " and ".join(parts) or "All is well"


SCREEN = Screen(
    name="health",
    path="/health",
    summary="The findings of catchment doctor, and figures of the server.",
    query=HealthQuery,
    answer=HealthAnswer,
    read=read,
    title=_title,
    template="health.html",
    label="Health",
    key="h",
)
