"""How a refresh was cut, as it is kept with the refresh: what its subtasks and its join need besides the order.

A subtask receives the refresh and its part of the keys, never SQL: what it computes follows from the definition, the
snapshots of the order, and this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from catchment.errors import LakeError
from catchment.lake.types import Action, ColumnAt, Json, Order, ReadDone, Strategy

WorkMode = Literal["keys", "all"]


@dataclass(frozen=True, slots=True)
class BucketPlan:
    """``total`` ranges of keys, ``buckets`` storage buckets.

    ``mode`` keys: only what is in the key files below ``folder`` is computed; all: every row. ``is_whole``: the table
    is rewritten, whatever it holds. ``table_dir`` is where data files go, ``reads`` what was read, for the frontier.
    ``key_counts`` says how many keys were written, by part of the definition and by range: files that are not there any
    more are noticed. ``no_progress_seconds`` is the time without progress after which a warning is due.
    """

    strategy: Strategy
    total: int
    buckets: int
    mode: WorkMode
    is_whole: bool
    folder: str
    table_dir: str
    definition_hash: str
    key_column: str
    action: Action
    reason: str | None
    keys: int | None
    reads: tuple[ReadDone, ...]
    workers: int
    no_progress_seconds: float
    key_counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    figures: Json = field(default_factory=dict[str, Any])

    def keys_folder(self, part: int) -> str:
        """Where the touched keys of a part of the definition are, in one folder per range."""
        return f"{self.folder}keys/{part}/"

    def keys_in(self, part: int, place: int) -> int:
        """How many touched keys of a part of the definition are in the files of a range."""
        return self.key_counts.get(str(part), {}).get(str(place), 0)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; ``from_order`` reads it back."""
        return {
            "strategy": self.strategy.value,
            "total": self.total,
            "buckets": self.buckets,
            "mode": self.mode,
            "is_whole": self.is_whole,
            "folder": self.folder,
            "table_dir": self.table_dir,
            "definition_hash": self.definition_hash,
            "key_column": self.key_column,
            "action": self.action.value,
            "reason": self.reason,
            "keys": self.keys,
            "reads": [_read_json(read) for read in self.reads],
            "workers": self.workers,
            "no_progress_seconds": self.no_progress_seconds,
            "key_counts": {part: dict(counts) for part, counts in self.key_counts.items()},
            "figures": dict(self.figures),
        }

    @classmethod
    def from_order(cls, order: Order) -> BucketPlan:
        """The plan of a refresh. Raises ``LakeError`` when it has none, or one for another definition."""
        if order.plan is None:
            raise LakeError(
                f"refresh {order.refresh_id} is {order.state} and has no plan of subtasks",
                hint="It was taken over by another attempt, or is over: drop the result.",
            )
        values: dict[str, Any] = {**order.plan, **_typed(order.plan)}
        plan = cls(**values)
        if plan.definition_hash != order.definition_hash:
            raise LakeError(
                f"the definition of {order.definition.ref} has changed since refresh {order.refresh_id} was planned",
                code="DEFINITION_CHANGED",
                hint="Refresh it again.",
            )
        return plan


def _typed(plan: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "strategy": Strategy(plan["strategy"]),
        "action": Action(plan["action"]),
        "reads": _reads(plan["reads"]),
    }


def _read_json(read: ReadDone) -> dict[str, Any]:
    return {
        "table_id": read.table_id,
        "snapshot": read.snapshot,
        "rows": read.rows,
        "columns": {name: [column.column_id, column.type] for name, column in read.columns.items()},
        "replaces": read.replaces,
        "merged": read.merged,
    }


def _reads(reads: Sequence[Mapping[str, Any]]) -> tuple[ReadDone, ...]:
    return tuple(
        ReadDone(
            read["table_id"],
            read["snapshot"],
            read["rows"],
            {name: ColumnAt(column_id, kind) for name, (column_id, kind) in read["columns"].items()},
            read["replaces"],
            read["merged"],
        )
        for read in reads
    )
