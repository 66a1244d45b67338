"""*Why*: why the register, a report or a unit is not up to date yet."""

from __future__ import annotations

from pydantic import Field

from catchment.dashboard import Answer, Query, Reader, Screen
from catchment_register.dashboard.shown import RegisterCondition, Text, is_current, read_why


class RegisterWhyQuery(Query):
    of: Text | None = Field(
        None,
        description="A unit (legal_unit/17, tax_ident:123 or 123), or statistical_unit, statistical_history,"
        " statistical_unit_facet, statistical_history_facet. Defaults to the register.",
    )


class RegisterWhyAnswer(Answer):
    """Everything that keeps it from showing what was committed. Nothing is blocking: it is up to date."""

    of: str | None
    is_current: bool
    conditions: list[RegisterCondition]


async def read(reader: Reader, query: RegisterWhyQuery) -> RegisterWhyAnswer:
    conditions = await read_why(reader, query.of)
    return RegisterWhyAnswer(of=query.of, is_current=is_current(conditions), conditions=conditions)


def _title(answer: RegisterWhyAnswer) -> str:
    return f"{answer.of or 'The register'} is {'up to date' if answer.is_current else 'not up to date yet'}"


SCREEN = Screen(
    name="register.why",
    path="/register/why",
    summary="Why a figure is not up to date yet.",
    query=RegisterWhyQuery,
    answer=RegisterWhyAnswer,
    read=read,
    title=_title,
    template="register/why.html",
    section="register",
)
