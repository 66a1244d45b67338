"""*Unit*: a published unit over time: the periods in which nothing about it changes, and the values valid in them."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from pydantic import Field

from catchment.dashboard import Answer, Query, Reader, Screen
from catchment_register.dashboard.shown import RegisterCondition, UnitId, UnitType, is_current, read_why, unit_name
from catchment_register.schema import REGISTER

MOST_PERIODS = 200


class UnitQuery(Query):
    unit_type: UnitType = Field(description="The type of the unit.")
    unit_id: UnitId


class UnitPeriod(Answer):
    """A stretch of time in which nothing about the unit changes."""

    valid_from: date
    valid_to: date | None = Field(description="Its last day; null if it is open.")
    name: str | None
    birth_date: date | None
    death_date: date | None
    region: str | None
    region_name: str | None
    activity: str | None
    activity_name: str | None
    sector: str | None
    sector_name: str | None
    legal_form: str | None
    legal_form_name: str | None
    status: str | None
    unit_size: str | None
    used_for_counting: bool
    figures: dict[str, str] = Field(
        description="Statistics of the unit and all it includes: sums, and counts of texts."
    )


class UnitAnswer(Answer):
    """A unit with its timeline, why it is not up to date, and its relatives of the last period."""

    unit_type: str
    unit_id: int
    today: date
    name: str | None
    idents: dict[str, str]
    is_current: bool
    conditions: list[RegisterCondition]
    periods: list[UnitPeriod]
    has_more: bool = Field(description="There are more than 200 periods.")
    enterprise_id: int | None
    legal_unit_ids: list[int] = Field(description="The first 20.")
    establishment_ids: list[int] = Field(description="The first 20.")
    legal_unit_count: int
    establishment_count: int
    last_edit_at: datetime | None
    last_edit_by: str | None


async def read(reader: Reader, query: UnitQuery) -> UnitAnswer:
    conditions = await read_why(reader, f"{query.unit_type}/{query.unit_id}")
    with REGISTER.translated():
        rows = await reader.rows(
            REGISTER.query("screen_unit"), unit_type=query.unit_type, unit_id=query.unit_id, most=MOST_PERIODS + 1
        )
        today = await reader.value(REGISTER.query("report_today"))
    shown = rows[:MOST_PERIODS]
    last: dict[str, Any] = shown[-1] if shown else {}
    legal_units: list[int] = last.get("included_legal_unit_ids") or last.get("legal_unit_ids") or []
    return UnitAnswer(
        unit_type=query.unit_type,
        unit_id=query.unit_id,
        today=today,
        name=last.get("name"),
        idents=last.get("idents") or {},
        is_current=is_current(conditions),
        conditions=conditions,
        periods=[UnitPeriod(**row, figures=_figures(row["stats"])) for row in shown],
        has_more=len(rows) > MOST_PERIODS,
        enterprise_id=last.get("enterprise_id"),
        legal_unit_ids=[] if query.unit_type == "legal_unit" else legal_units,
        establishment_ids=[] if query.unit_type == "establishment" else last.get("included_establishment_ids") or [],
        legal_unit_count=last.get("included_legal_unit_count") or len(legal_units),
        establishment_count=last.get("included_establishment_count") or 0,
        last_edit_at=last.get("last_edit_at"),
        last_edit_by=last.get("last_edit_by"),
    )


def _figures(stats: dict[str, Any] | None) -> dict[str, str]:
    """Sums of numbers, and how often each text occurs."""
    made: dict[str, str] = {}
    for code, summary in sorted((stats or {}).items()):
        if "sum" in summary:
            made[code] = str(summary["sum"])
        elif "counts" in summary:
            made[code] = ", ".join(f"{value}: {count}" for value, count in list(summary["counts"].items())[:5])
    return made


def _title(answer: UnitAnswer) -> str:
    return answer.name or f"{unit_name(answer.unit_type)} {answer.unit_id}"


SCREEN = Screen(
    name="register.unit",
    path="/register/units/{unit_type}/{unit_id}",
    summary="A unit over time.",
    query=UnitQuery,
    answer=UnitAnswer,
    read=read,
    title=_title,
    template="register/unit.html",
    section="register",
)
