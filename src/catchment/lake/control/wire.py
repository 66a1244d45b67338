"""Orders, publications and definitions as the functions of schema ``lake`` give and take them: JSON."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from catchment.errors import LakeError
from catchment.lake.names import DT_SCHEMA, physical_name
from catchment.lake.types import (
    ColumnAt,
    Definition,
    Executor,
    NewTable,
    Order,
    Properties,
    Publication,
    Read,
    ReadDone,
    Replaced,
    TableRef,
)


def read_order(row: Mapping[str, Any]) -> Order:
    """The order in what ``lake.order_of`` returned. Raises ``LakeError`` when a source has no content to read."""
    definition = Definition(
        ref=TableRef(row["schema_name"], row["name"]),
        query=row["definition"],
        properties=Properties.from_json(row["properties"]),
    )
    deadline, before, replaces = row["deadline_at"], row["data_at_old"], _replaced(row["replaces"])
    return Order(
        refresh_id=row["refresh_id"],
        fence=row["fence"],
        dt_id=row["dt_id"],
        generation=row["generation"],
        definition=definition,
        definition_hash=row["definition_hash"],
        layout=row["layout"],
        buckets=row["buckets"],
        state=row["state"],
        trigger=row["trigger"],
        data_snapshot=row["data_snapshot"],
        data_at=datetime.fromisoformat(row["data_at"]),
        data_at_old=None if before is None else datetime.fromisoformat(before),
        epoch=row["epoch"] or 0,
        commit_snapshot=row["commit_snapshot"],
        rows=row["rows"],
        reads=tuple(_read(read, row["data_snapshot"], row["state"]) for read in row["reads"]),
        forced=row["forced"],
        stored_snapshot=row["stored_snapshot"] or 0,
        physical_id=row["physical_id"],
        physical=content_ref(row["dt_id"] if replaces is None else replaces.dt_id, row["generation"]),
        plan=row["plan"],
        deadline_at=None if deadline is None else datetime.fromisoformat(deadline),
        replaces=replaces,
        executor=None if row.get("executor") is None else Executor(row["executor"]),
    )


def content_ref(dt_id: int, generation: int) -> TableRef:
    """The table of the lake that holds the rows of a dynamic table."""
    return TableRef(DT_SCHEMA, physical_name(dt_id, generation))


def _replaced(row: Mapping[str, Any] | None) -> Replaced | None:
    if row is None:
        return None
    ref = TableRef(row["schema_name"], row["name"])
    return Replaced(row["dt_id"], ref, content_ref(row["dt_id"], row["generation"]))


def _read(row: Mapping[str, Any], snapshot: int, state: str) -> Read:
    new = row["new"]
    if new is None and state == "EXECUTING":
        raise LakeError(
            f"{row['dynamic_table']}, which is read, has no content for snapshot {snapshot}",
            code="DEPENDENCY",
            hint="It was refreshed past it, or never: refresh again.",
        )
    columns: Mapping[str, Mapping[str, Any]] = row["columns_old"] or {}
    return Read(
        table_id=row["table_id"],
        ref=TableRef(row["schema_name"], row["table_name"]),
        dt_id=row["dt_id"],
        old=row["old"],
        new=snapshot if new is None else new,
        rows_old=row["rows_old"],
        columns_old={name: ColumnAt(c["id"], c["type"]) for name, c in columns.items()},
        merged_old=row.get("merged_old") or 0,
        rows_new=row.get("rows_new"),
    )


def publication_json(publication: Publication) -> dict[str, Any]:
    """What ``lake.prepare_publish`` takes."""
    return {
        "action": publication.action.value,
        "reason": publication.reason,
        "inserted": publication.inserted,
        "deleted": publication.deleted,
        "rows_after": publication.rows_after,
        "keys": publication.keys,
        "buckets": publication.buckets,
        "reads": [_read_done_json(read) for read in publication.reads],
        "figures": dict(publication.figures),
    }


def _read_done_json(read: ReadDone) -> dict[str, Any]:
    return {
        "table_id": read.table_id,
        "snapshot": read.snapshot,
        "rows": read.rows,
        "columns": {name: {"id": column.column_id, "type": column.type} for name, column in read.columns.items()},
        "replaces": read.replaces,
        "merged": read.merged,
    }


def table_json(table: NewTable) -> dict[str, Any]:
    """What ``lake.create_table`` takes."""
    definition = table.definition
    lag = definition.properties.target_lag
    return {
        "schema_name": definition.ref.schema,
        "name": definition.ref.name,
        "definition": definition.query,
        "definition_hash": table.definition_hash,
        "properties": definition.properties.to_json(),
        "target_lag": None if lag is None else lag.total_seconds(),
        "scheduler": definition.properties.scheduler,
        "strategy": table.strategy,
        "reason": table.reason,
        "is_always_due": table.is_always_due,
        "layout": dict(table.layout),
        "buckets": table.buckets,
        "or_replace": definition.or_replace or definition.or_alter,
        "if_not_exists": definition.if_not_exists,
        "sources": [
            {
                "table_id": source.table_id,
                "schema_name": source.ref.schema,
                "table_name": source.ref.name,
                "source_dt_id": source.dt_id,
                "used_columns": list(source.used),
            }
            for source in table.sources
        ],
    }
