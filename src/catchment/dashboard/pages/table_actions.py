"""What operators do with a dynamic table: refresh it now, suspend it, resume it."""

from __future__ import annotations

from catchment.dashboard.database import Actor
from catchment.dashboard.pages.table import TableId, find_table
from catchment.dashboard.screen import Action, Done, Query

_NAMES = """
select d.schema_name || '.' || d.name as name from lake.dt as d where d.id = any (%(ids)s) order by d.id limit 5
"""


class TableBody(Query):
    id: TableId


async def _names(actor: Actor, ids: list[int]) -> str:
    rows = await actor.rows(_NAMES, ids=ids)
    named = ", ".join(row["name"] for row in rows)
    return named if len(ids) <= 5 else f"{named} and {len(ids) - 5} more"


async def _refresh(actor: Actor, body: TableBody) -> Done:
    row = await find_table(actor, body.id)
    round_id = await actor.value("select lake.request_round(array[%(id)s::bigint])", id=body.id)
    return Done(f"Round {round_id} refreshes {row['name']} and what it reads.", "requested")


async def _suspend(actor: Actor, body: TableBody) -> Done:
    row = await find_table(actor, body.id)
    ids = await actor.value("select lake.suspend(%(id)s::bigint)", id=body.id)
    if not ids:
        return Done(f"Nothing was done: {row['name']} is suspended already.", "suspended")
    return Done(f"Suspended: {await _names(actor, ids)}.", "suspended")


async def _resume(actor: Actor, body: TableBody) -> Done:
    row = await find_table(actor, body.id)
    if row["state"] != "suspended":
        return Done(f"Nothing was done: {row['name']} is not suspended.", row["state"])
    ids = await actor.value("select lake.resume(%(id)s::bigint)", id=body.id)
    return Done(f"Refreshed by the schedule again: {await _names(actor, ids)}.", "active")


REFRESH = Action(
    name="table.refresh",
    path="/tables/{id}/refresh",
    summary="Refresh a dynamic table now, and the dynamic tables that it reads.",
    body=TableBody,
    run=_refresh,
    verb=lambda body: f"Refresh table {body.id}",
    consequence=lambda _: "It and the dynamic tables that it reads are refreshed as of now. Workers of the lake do it.",
    subject=lambda body: f"table {body.id}",
)

SUSPEND = Action(
    name="table.suspend",
    path="/tables/{id}/suspend",
    summary="Stop refreshing a dynamic table by the schedule, and all that read it.",
    body=TableBody,
    run=_suspend,
    verb=lambda body: f"Suspend table {body.id}",
    consequence=lambda _: (
        "The schedule does not refresh it any more, nor the tables that read it: their data get older until it is"
        " resumed. A running refresh continues."
    ),
    subject=lambda body: f"table {body.id}",
    is_destructive=True,
)

RESUME = Action(
    name="table.resume",
    path="/tables/{id}/resume",
    summary="Refresh a dynamic table by the schedule again, and those that were suspended because of it.",
    body=TableBody,
    run=_resume,
    verb=lambda body: f"Resume table {body.id}",
    consequence=lambda _: (
        "The schedule refreshes it again, and the tables that were suspended because of it. It begins with the next"
        " turn."
    ),
    subject=lambda body: f"table {body.id}",
)


ACTIONS = (REFRESH, SUSPEND, RESUME)
