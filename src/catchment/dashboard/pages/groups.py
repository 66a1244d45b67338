"""The children of a large scope by command and state: counts, or estimates from a sample that add up to the counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from pydantic import Field

from catchment.dashboard.charts.waterfall import Axis
from catchment.dashboard.database import Reader, Row
from catchment.dashboard.screen import Answer, sql
from catchment.model.state import TaskState

BINS = 60
# Of more children a sample is looked at: each takes some 10 microseconds, and a page is read once a second.
COUNTED = 2_000


class Group(Answer):
    """The children of one command."""

    command: str
    counts: dict[str, int] = Field(description="By state. Those that are estimated are in estimated.")
    estimated: list[str] = Field(description="States whose figures are estimated from a sample.")
    median_seconds: float | None = Field(description="What a handler took, of those that completed.")
    slow_seconds: float | None = Field(description="19 of 20 handlers took less.")
    ends: list[float] = Field(description="How many settled in each 60th of the time that the scope has taken.")


async def read_groups(reader: Reader, scope_id: int, counts: Mapping[TaskState, int], axis: Axis) -> list[Group]:
    """Most children first."""
    rows = await reader.rows(sql("scope_groups"), id=scope_id, start=axis.start, end=axis.end, bins=BINS, most=COUNTED)
    return sorted(groups_of(rows, counts), key=lambda group: (-sum(group.counts.values()), group.command))


def groups_of(rows: list[Row], counts: Mapping[TaskState, int]) -> list[Group]:
    """Scale the counts of a sample to all tasks, state by state."""
    looked: defaultdict[str, int] = defaultdict(int)
    for row in rows:
        if row["bin"] is None:
            looked[row["state"]] += row["tasks"]
    scale = {state: counts[TaskState(state)] / number for state, number in looked.items()}
    made: dict[str, Group] = {}
    for row in rows:
        state = row["state"]
        group = made.get(row["command"])
        if group is None:
            group = made[row["command"]] = Group(
                command=row["command"],
                counts={},
                estimated=[],
                median_seconds=None,
                slow_seconds=None,
                ends=[0.0] * BINS,
            )
        if row["bin"] is not None:
            # The first and the last bin are what is off the axis.
            group.ends[min(BINS, max(1, row["bin"])) - 1] += row["tasks"] * scale[state]
            continue
        group.counts[state] = round(row["tasks"] * scale[state])
        if looked[state] != counts[TaskState(state)]:
            group.estimated.append(state)
        if state == TaskState.COMPLETED:
            made[row["command"]] = group.model_copy(
                update={"median_seconds": row["median"], "slow_seconds": row["slow"]}
            )
    return list(made.values())
