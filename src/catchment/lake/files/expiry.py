"""Lets old snapshots of the lake go, and files that the catalog does not know; by hand, or once a day.

Expiry is for the whole lake, so only snapshots go that no dynamic table was computed from, is stored at, or is being
computed at.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from catchment.errors import LakeError
from catchment.lake.control.control import Control
from catchment.lake.duck import catalog
from catchment.lake.duck.address import is_remote
from catchment.lake.duck.duck import Duck, Never, Stop
from catchment.lake.duck.locks import commit_lock
from catchment.lake.files.sweep import compare
from catchment.lake.names import ALIAS, DT_SCHEMA, literal

SHORTEST = timedelta(hours=24)
"""A client may have a transaction open on a younger snapshot, and DuckLake would lose its deletes."""


def expire(duck: Duck, control: Control, older_than: timedelta = SHORTEST, *, stop: Stop | None = None) -> int:
    """Let snapshots go that are older and that no dynamic table needs; returns how many went.

    Files that belonged to none but these are removed, except those that were given up within ``older_than``. Raises
    ``LakeError`` for a time under a day.
    """
    _refuse_if_short(older_than, "snapshots")
    with duck.turn(stop or Never()), commit_lock(control.dsn):
        with control.connection() as conn:
            snapshots = catalog.expirable(conn, control.pinned_snapshot(), older_than)
        if snapshots:
            listed = ", ".join(f"{snapshot:d}" for snapshot in snapshots)
            duck.run(f"CALL ducklake_expire_snapshots({literal(ALIAS)}, versions => [{listed}])")
        duck.run(f"CALL ducklake_cleanup_old_files({literal(ALIAS)}, {_before(older_than)})")
    return len(snapshots)


def _refuse_if_short(older_than: timedelta, what: str) -> None:
    if older_than < SHORTEST:
        raise LakeError(
            f"{what} younger than {SHORTEST.days} day never go, and {older_than} is less",
            code="REFUSED",
            hint="Give a longer time: a client may still have a transaction open on them.",
        )


def _before(older_than: timedelta) -> str:
    return f"older_than => now()::TIMESTAMP - to_seconds({int(older_than.total_seconds()):d})"


def remove_orphans(duck: Duck, control: Control, older_than: timedelta = SHORTEST) -> int:
    """Remove Parquet files below the data path that the catalog does not know and that are older: what sessions of
    others have left, in the tables that they write. Returns how many went.

    Raises ``LakeError`` for a time under a day, and where another lake keeps its data in the same place: its files are
    in another catalog.
    """
    _refuse_if_short(older_than, "files")
    with duck.turn(Never()), commit_lock(control.dsn):
        with control.connection() as conn:
            address, content = catalog.read_address(conn), catalog.content_directory(conn)
        others = [folder for folder in _content_folders(duck, address.data_path) if folder != content]
        if others:
            raise LakeError(
                f"another lake has its data in {address.data_path} too, at {others[0]}: which files are its own is not "
                "known here",
                code="REFUSED",
                hint="Give each lake a data path; files of dynamic tables are removed all the same.",
            )
        removed = duck.rows(f"CALL ducklake_delete_orphaned_files({literal(ALIAS)}, {_before(older_than)})")
    return len(removed)


def _content_folders(duck: Duck, data_path: str) -> list[str]:
    """The folders of the content of dynamic tables, of whatever lake."""
    if is_remote(data_path):
        files = duck.rows("SELECT DISTINCT file FROM glob(?)", [f"{data_path}{DT_SCHEMA}-*/**"])
        return sorted({data_path + row[0].removeprefix(data_path).split("/")[0] + "/" for row in files})
    return sorted(f"{path}/" for path in Path(data_path).glob(f"{DT_SCHEMA}-*"))


def expire_by_schedule(duck: Duck, control: Control) -> dict[str, int]:
    """What is done once a day: compare the content of dynamic tables with the catalog, and let go what is older than
    the lake says, if it says so. Returns how much went."""
    snapshots, files = control.expiry()
    return {
        "files": len(compare(duck, control)),
        "snapshots": 0 if snapshots is None else expire(duck, control, snapshots),
        "orphans": 0 if files is None else remove_orphans(duck, control, files),
    }
