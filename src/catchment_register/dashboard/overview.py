"""*Register*: whether it is up to date, what derives it now, and its figures by region, activity and sector."""

from __future__ import annotations

from datetime import date, datetime
from time import monotonic
from typing import Any, Literal

from pydantic import Field

from catchment.dashboard import Answer, Query, Reader, Screen
from catchment_register.dashboard.shown import Path, RegisterCondition, UnitType, is_current, read_why
from catchment_register.schema import REGISTER

YEARS = 20
MONTHS = 36
# The history of a place is summed up from the facets of each period: a third of a second for as many rows.
MOST_ROWS = 500_000
MOST_CHOICES = 60
# Names of codes may change without a report doing so.
KEPT_SECONDS = 60

_DIMENSIONS = ("region", "activity", "sector")


class OverviewQuery(Query):
    """Where to look: a type of unit, and places in three dimensions, by their paths."""

    unit_type: UnitType = Field("legal_unit", description="The type of unit.")
    resolution: Literal["year", "year-month"] = Field("year", description="Years, or the months of the last years.")
    region: Path | None = Field(None, description="A path of the region list, such as 03.01.")
    activity: Path | None = Field(None, description="A path of the activity list, such as A.01.")
    sector: Path | None = Field(None, description="A path of the sector list.")

    @property
    def is_filtered(self) -> bool:
        return any((self.region, self.activity, self.sector))


class Phase(Answer):
    """A phase of derivation: its steps, the one it is at, and how many tasks of that are done."""

    phase: str
    is_active: bool
    is_pending: bool
    step: str | None
    done: int | None
    total: int | None
    steps: list[str]

    @property
    def place(self) -> int | None:
        """How many steps are done before this one."""
        return self.steps.index(self.step) if self.step in self.steps else None


class Round(Answer):
    """A passage through derivation."""

    id: int
    kind: str
    state: str
    started_at: datetime
    flushed_at: datetime | None = Field(description="When its units were published.")
    ended_at: datetime | None
    failures: int
    units: int = Field(description="How many units it derived; 0 if all of them.")

    @property
    def seconds(self) -> float | None:
        return None if self.ended_at is None else (self.ended_at - self.started_at).total_seconds()


class Choice(Answer):
    """A place that can be chosen next, and how many units count there today."""

    path: str
    name: str | None
    count: int
    has_children: bool


class Dimension(Answer):
    """A dimension: what is chosen, from the outside in, and what can be chosen next."""

    name: str
    chosen: list[Choice]
    next: list[Choice]
    more: int = Field(description="How many more places there are, which have fewer units.")


class Period(Answer):
    """A year or a month: units that count at its end, births and deaths in it."""

    label: str
    stock: int
    births: int
    deaths: int


class OverviewAnswer(Answer):
    """The register at a glance."""

    today: date
    is_importing: bool
    is_current: bool
    conditions: list[RegisterCondition]
    round_id: int | None = Field(description="The open round.")
    phases: list[Phase]
    rounds: list[Round]
    count: int = Field(description="Units that count today, at the chosen place.")
    dimensions: list[Dimension]
    periods: list[Period]
    is_partial: bool = Field(description="The last period is not over.")
    is_cut: bool = Field(description="There may be earlier periods, which take too long to sum up at this place.")


async def read(reader: Reader, query: OverviewQuery) -> OverviewAnswer:
    conditions = await read_why(reader, None)
    with REGISTER.translated():
        status = await reader.row(REGISTER.query("screen_status"))
        rounds = await reader.rows(REGISTER.query("screen_rounds"))
        version = await reader.value(REGISTER.query("screen_version"))
        assert status is not None  # noqa: S101 - it has no WHERE
        today: date = status["today"]

        async def figures() -> dict[str, Any]:
            return await _figures(reader, query, today)

        kept = (version, monotonic() // KEPT_SECONDS)
        place = await reader.kept.read(f"register {query.model_dump_json()}", kept, figures)
    return OverviewAnswer(
        today=today,
        is_importing=status["is_importing"],
        is_current=is_current(conditions),
        conditions=conditions,
        round_id=status["round_id"],
        phases=[Phase(**phase) for phase in status["phases"]],
        rounds=[Round(**row) for row in rounds],
        **place,
    )


async def _figures(reader: Reader, query: OverviewQuery, today: date) -> dict[str, Any]:
    """The figures of a place: they change with the reports alone."""
    place = {"region": query.region, "activity": query.activity, "sector": query.sector}
    places = await reader.rows(REGISTER.query("screen_next"), unit_type=query.unit_type, at=today, **place)
    chosen = await reader.rows(REGISTER.query("screen_place"), **place)
    is_year = query.resolution == "year"
    wanted = shown = YEARS if is_year else MONTHS
    name = "screen_history"
    if query.is_filtered:
        name = "screen_history_place"
        shown = min(wanted, max(1, MOST_ROWS // max(1, await reader.value(REGISTER.query("screen_size")))))
    year, month = _first(today, shown, is_year=is_year)
    asked = {"unit_type": query.unit_type, "resolution": query.resolution, "first_year": year, "first_month": month}
    rows = await reader.rows(REGISTER.query(name), **asked, **(place if query.is_filtered else {}))
    return {
        "count": next(row["count"] for row in places if row["dimension"] == "all"),
        "dimensions": [
            _dimension(
                name,
                [row for row in places if row["dimension"] == name],
                [row for row in chosen if row["dimension"] == name],
            )
            for name in _DIMENSIONS
        ],
        "periods": [_period(row) for row in rows],
        "is_partial": bool(rows) and _is_partial(rows[-1], today),
        "is_cut": shown < wanted,
    }


def _first(today: date, count: int, *, is_year: bool) -> tuple[int, int]:
    """The year and the month that the last periods begin with."""
    if is_year:
        return today.year - count + 1, 1
    months = today.year * 12 + today.month - count
    return months // 12, months % 12 + 1


def _dimension(name: str, places: list[dict[str, Any]], chosen: list[dict[str, Any]]) -> Dimension:
    choices = [
        Choice(path=place["path"], name=place["name"], count=place["count"], has_children=place["has_children"])
        for place in places
    ]
    return Dimension(
        name=name,
        chosen=[Choice(path=row["path"], name=row["name"], count=0, has_children=True) for row in chosen],
        next=choices[:MOST_CHOICES],
        more=max(0, len(choices) - MOST_CHOICES),
    )


def _period(row: dict[str, Any]) -> Period:
    label = f"{row['year']}" if row["month"] is None else f"{row['year']}-{row['month']:02}"
    return Period(label=label, stock=row["stock"] or 0, births=row["births"] or 0, deaths=row["deaths"] or 0)


def _is_partial(row: dict[str, Any], today: date) -> bool:
    is_this_year = row["year"] == today.year
    return is_this_year and (row["month"] is None or row["month"] == today.month)


def _title(answer: OverviewAnswer) -> str:
    if answer.is_current:
        return "The register is up to date"
    return "The register is not up to date yet"


SCREEN = Screen(
    name="register",
    path="/register",
    summary="Whether the register is up to date, and its figures by region, activity and sector.",
    query=OverviewQuery,
    answer=OverviewAnswer,
    read=read,
    title=_title,
    template="register/overview.html",
    label="Register",
    key="r",
)
