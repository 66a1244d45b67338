"""What each command prints with ``--json``: one type per command, from which its JSON Schema is made.

Commands do not import this: it is for the reference, and for a test that runs every command.
"""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from catchment.cli.answers import engine, tables, tasks
from catchment.cli.config import Shown
from catchment.model.why import Why

ANSWERS: dict[str, Any] = {
    "migrate": engine.Migrated,
    "enqueue": tasks.Made,
    "top": engine.Top,
    # Of each line.
    "tail": tasks.Ended | tasks.EndedBefore,
    "config": list[Shown],
    "doctor": list[engine.Finding],
    "bench": list[engine.Figure],
    "task list": list[tasks.TaskRow],
    "task show": tasks.TaskShown,
    "task why": Why,
    "task tree": tasks.TaskTree,
    # By ids, or by a filter.
    "task cancel": list[tasks.Changed] | tasks.Bulk,
    "task retry": list[tasks.Changed] | tasks.Bulk,
    "queue list": list[engine.QueueRow],
    "queue capacity": engine.QueueCapacity,
    "queue pause": engine.QueuePaused,
    "queue resume": engine.QueuePaused,
    "lane list": list[engine.LaneRow],
    "lane skip": engine.LaneSkipped,
    "schedule list": list[engine.ScheduleRow],
    "schedule history": list[engine.ScheduleTime],
    "schedule run": tasks.Made,
    "schedule pause": engine.ScheduleChanged,
    "schedule resume": engine.ScheduleChanged,
    "command list": list[engine.CommandRow],
    "workers list": list[engine.WorkerRow],
    "workers pause": engine.WorkerRequest,
    "workers resume": engine.WorkerRequest,
    "workers drain": engine.WorkerRequest,
    "table init": tables.LakeMade,
    "table create": list[tables.TableMade],
    "table load": tables.Loaded,
    # A list of rows: their fields are the columns of the query.
    "table sql": list[dict[str, Any]],
    "table list": list[tables.TableSummary],
    "table describe": tables.TableDescription,
    # Of a table, or of the statements of a file.
    "table explain": tables.TableExplanation | list[tables.StatementExplained],
    "table why": tables.TableWhy,
    "table history": list[tables.RefreshRecord],
    "table lag": list[tables.TableLag],
    "table graph": list[tables.TableNode],
    "table audit": list[tables.TableAudited],
    "table attach": tables.AttachStatement,
    "table refresh": list[tables.Refreshed] | tables.RoundAsked,
    "table cancel": list[tables.RefreshCancelled],
    "table suspend": list[tables.TableState],
    "table resume": list[tables.TableState],
    "table alter": tables.TableAltered,
    "table drop": list[tables.TableDropped],
    "table maintain": tables.TablesMaintained,
}


def schema_of(answer: Any) -> dict[str, Any]:
    """The JSON Schema of an answer. Fields that it does not name are not printed."""
    schema = TypeAdapter(answer).json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        if "properties" in part:
            part["additionalProperties"] = False
            for field in part["properties"].values():
                _sort_choices(field)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _sort_choices(field: dict[str, Any]) -> None:
    """Of a union, which are in no order: Python takes ``Literal["a", "b"] | None`` for ``Literal["b", "a"] | None``,
    and has the one that was imported first."""
    for choice in field.get("anyOf", ()):
        if "enum" in choice:
            choice["enum"].sort()
