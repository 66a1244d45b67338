"""Keeps the files of dynamic tables in order.

Every refresh adds a file and marks rows of others as deleted; reading gets slower with both. Compaction is DuckLake's
own, for one table at a time and under the commit lock; it changes no content.
"""

from __future__ import annotations

from dataclasses import dataclass

from catchment.lake.control.control import Control
from catchment.lake.duck import catalog
from catchment.lake.duck.catalog import FileHealth
from catchment.lake.duck.duck import Duck, Never, Stop
from catchment.lake.duck.locks import commit_lock
from catchment.lake.files.physical import restore_name
from catchment.lake.names import ALIAS
from catchment.lake.types import Order

REWRITE_ABOVE = 0.05
"""When a table is compacted, files with a larger share of deleted rows are rewritten."""


@dataclass(frozen=True, slots=True)
class Maintained:
    """The files of a table before and after; equal when there was nothing to do."""

    before: FileHealth
    after: FileHealth


def maintain_table(
    duck: Duck, control: Control, dt_id: int, *, task_id: int = 0, stop: Stop | None = None
) -> Maintained:
    """Compact a table if it needs it, and make its view again if that was dropped. A refresh may be under way
    meanwhile: it reads an older version, whose files stay, and publishes under the commit lock too, by row ids;
    compaction leaves these as they are, because rows of dynamic tables are never updated in place.

    Raises ``CommitConflict`` when others write to it, which nobody should; then nothing has changed.
    """
    with duck.turn(stop or Never()):
        restore_name(duck, control, dt_id)
    order = control.read_content(dt_id)
    if order is None:
        nothing = FileHealth(0, 0, 0, 0)
        return Maintained(nothing, nothing)
    with control.connection() as conn:
        before = catalog.file_health(conn, order.physical_id)
        if not control.is_crowded(dt_id):
            return Maintained(before, before)
        # No refresh, and no file that it could name: should this process die, a sweep finds what it has written.
        directory = catalog.table_directory(conn, order.physical_id)
        with duck.turn(stop or Never()), commit_lock(control.dsn):
            control.note_artifacts(0, task_id, 0, "table", [directory])
            _compact(duck, order)
            control.forget_artifacts([directory], [0])
        return Maintained(before, catalog.file_health(conn, order.physical_id))


def _compact(duck: Duck, order: Order) -> None:
    """Merging takes files without deleted rows alone, so it is done before and after these are gone."""
    table = [ALIAS, order.physical.name, order.physical.schema]
    duck.run("CALL ducklake_merge_adjacent_files(?, ?, schema => ?)", table)
    duck.run(
        f"CALL ducklake_rewrite_data_files(?, ?, schema => ?, delete_threshold => {REWRITE_ABOVE:f})",
        table,
    )
    duck.run("CALL ducklake_merge_adjacent_files(?, ?, schema => ?)", table)
