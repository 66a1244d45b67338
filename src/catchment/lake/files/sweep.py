"""Removes the files of refreshes that are over and that the lake did not take: keys, row ids, data of lost attempts,
and what a commit that did not happen has left.

A file is written down before it is made and forgotten after it is gone, so whatever dies in between, the next sweep
finds it. The names of files that DuckLake writes are not known before: there the directory of the table is written
down, and compared with the catalog. Every refresh that has files asks for a sweep in the transaction that ends it.
"""

from __future__ import annotations

import os
import re
import time
import uuid
from collections.abc import Iterable
from datetime import timedelta

from catchment.lake.control.control import Control
from catchment.lake.control.records import Artifact
from catchment.lake.duck.address import is_remote
from catchment.lake.duck.catalog import content_directory
from catchment.lake.duck.duck import Duck, Never
from catchment.lake.duck.locks import commit_lock
from catchment.lake.files import storage
from catchment.lake.files.physical import drop_abandoned
from catchment.lake.settings import LakeSettings

OLD = timedelta(hours=24)
"""A file without a note may belong to a transaction that is still open; after this time it does not."""

_NAMED_BY_TIME = re.compile(r"/ducklake-([0-9a-f-]{36})[^/]*$")


def sweep(duck: Duck, control: Control, settings: LakeSettings, refresh_id: int | None = None) -> int:
    """Clean up after one refresh, or after all that are over. Returns how many files have to be looked for again."""
    grace = timedelta(seconds=settings.lake_artifact_grace_seconds)
    artifacts = control.sweepable(refresh_id, grace)
    directories = [artifact for artifact in artifacts if artifact.kind in ("table", "load")]
    files = [artifact for artifact in artifacts if artifact.kind not in ("table", "load")]
    with duck.turn(Never()):
        drop_abandoned(duck, control)
        gone = set(storage.remove(duck, control, list(_files(duck, files))))
        done = [
            artifact.path
            for artifact in files
            if artifact.is_registered or (artifact.is_final and _is_gone(duck, artifact, gone))
        ]
        tidied = sum(_tidy(duck, control, artifact, grace) for artifact in directories if artifact.is_final)
    if done:
        control.forget_artifacts(done)
    return len(artifacts) - len(done) - tidied


def _files(duck: Duck, artifacts: Iterable[Artifact]) -> Iterable[str]:
    for artifact in artifacts:
        if artifact.path.endswith("/"):
            yield from storage.list_files(duck, artifact.path)
        elif not artifact.is_registered:
            yield artifact.path


def _is_gone(duck: Duck, artifact: Artifact, gone: set[str]) -> bool:
    if artifact.path.endswith("/"):
        return not storage.list_files(duck, artifact.path)
    return artifact.path in gone


def _tidy(duck: Duck, control: Control, directory: Artifact, grace: timedelta) -> bool:
    """Remove what nothing knows from the directory of a table or a load; tells whether all of it is gone. Under the
    commit lock: its holder may have files there that its commit has yet to name. So may a refresh that passes a session
    which keeps the lock, and who asks for it from now on waits longer for that than this takes."""
    with commit_lock(control.dsn):
        if directory not in control.sweepable(None, grace):
            return False
        unknown = control.unknown_files(directory.path, storage.list_files(duck, directory.path))
        is_done = len(storage.remove(duck, control, unknown)) == len(unknown)
        if is_done and directory.kind == "load":
            storage.remove_empty(directory.path)
        if is_done:
            control.forget_artifacts([directory.path], [directory.fence])
        return is_done


def compare(duck: Duck, control: Control, older_than: timedelta = OLD) -> list[str]:
    """Compare the content of all dynamic tables with the catalog, and remove files that nothing knows and that are
    older; returns them. For whatever ended without a trace, such as a session of another program."""
    with duck.turn(Never()), commit_lock(control.dsn):
        with control.connection() as conn:
            folder = content_directory(conn)
        unknown = control.unknown_files(folder, storage.list_files(duck, folder))
        before = time.time() - older_than.total_seconds()
        return storage.remove(duck, control, [path for path in unknown if _written_at(path) < before])


def _written_at(path: str) -> float:
    """When a file was written: DuckLake names files by the time. Others of a bucket count as new."""
    named = _NAMED_BY_TIME.search(path)
    if named is not None:
        return (uuid.UUID(named[1]).int >> 80) / 1000
    try:
        return float("inf") if is_remote(path) else os.stat(path).st_mtime
    except OSError:
        return float("inf")
