"""Names and removal of files that refreshes write outside of the catalog.

Data files go to their final place, below the table's own directory; keys and row ids to delete go to a scratch folder
of the refresh. DuckDB can write to a bucket and cannot remove from it, but DuckLake can: there the files are put on its
list of files to delete, with a date that no other entry has.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

from catchment.lake.control.control import Control
from catchment.lake.duck.address import LakeAddress, is_remote
from catchment.lake.duck.duck import Duck
from catchment.lake.names import ALIAS, BUCKET, literal
from catchment.lake.types import BucketRange, Order

# Our entries are a day older; those of DuckLake have the date of their compaction.
_OLDER_THAN = "1970-01-03 00:00:00"
_SCRATCH = re.compile(r".*/catchment/r\d+/")
_PATTERN = re.compile(r"[*?[]")


def scratch_dir(address: LakeAddress, refresh_id: int) -> str:
    """The folder for keys and deletes of a refresh, with a slash at the end. The lake of another database may have the
    same data path and the same numbers, so what is below it has a random name."""
    return f"{address.data_path}catchment/r{refresh_id}/"


def attempt_dir(address: LakeAddress, order: Order) -> str:
    """The folder for keys and deletes of one attempt at a refresh, with a slash at the end."""
    return f"{scratch_dir(address, order.refresh_id)}f{order.fence}-{_token()}/"


def _token() -> str:
    return secrets.token_hex(6)


def bucket_path(table_dir: str, bucket: int, order: Order, keys: BucketRange, attempt: int) -> str:
    """The data file that an attempt writes for one storage bucket. No two attempts share one, nor do the subtasks of a
    refresh that is done again, nor two lakes with one data path.

    The directory tells the bucket: DuckLake takes the value of the partition column from it.
    """
    part = "null" if keys.partition is None else str(keys.partition)
    name = f"r{order.refresh_id}-f{order.fence}-{keys.total}-{part}-a{attempt}-{_token()}.parquet"
    return f"{table_dir}{BUCKET}={bucket}/{name}"


def make_folders(paths: Iterable[str]) -> None:
    """Make the folders of these files, where there are folders."""
    for folder in {os.path.dirname(path) for path in paths if not is_remote(path)}:
        Path(folder).mkdir(parents=True, exist_ok=True)


def remove(duck: Duck, control: Control, paths: Collection[str]) -> list[str]:
    """Remove files; one that does not exist counts as removed. Returns those that are gone.

    Never for a file that the catalog knows. Empty folders of the scratch folder go too; those of tables stay, because
    another session may be about to write into them.
    """
    gone = [path for path in paths if not is_remote(path) and _remove_local(path)]
    remote = [path for path in paths if is_remote(path)]
    if remote:
        control.schedule_deletion(remote)
        duck.run(f"CALL ducklake_cleanup_old_files({literal(ALIAS)}, older_than => TIMESTAMP {literal(_OLDER_THAN)})")
        gone.extend(remote)
    return gone


def _remove_local(path: str) -> bool:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError:
        return False
    scratch = _SCRATCH.match(path)
    folder = Path(path).parent
    with suppress(OSError):  # not empty
        while scratch is not None and f"{folder}/".startswith(scratch[0]):
            folder.rmdir()
            folder = folder.parent
    return True


def remove_empty(folder: str) -> None:
    """Remove a folder and the folders in it that are empty, where there are folders."""
    if is_remote(folder):
        return
    for path, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):  # not empty
            os.rmdir(path)


def list_files(duck: Duck, folder: str) -> list[str]:
    """All files below a folder, as full paths in order. What a pattern would read otherwise stands for itself."""
    if is_remote(folder):
        pattern = _PATTERN.sub(r"[\g<0>]", folder.rstrip("/"))
        return [row[0] for row in duck.rows("SELECT file FROM glob(?) ORDER BY 1", [f"{pattern}/**"])]
    return sorted(os.path.join(path, name) for path, _, names in os.walk(folder) for name in names)
