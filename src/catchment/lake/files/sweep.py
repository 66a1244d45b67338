"""Removes the files of refreshes that are over and that the lake did not take: keys, row ids, data of lost attempts.

A file is written down before it is made and forgotten after it is gone, so whatever dies in between, the next sweep
finds it. Every refresh that has files asks for a sweep in the transaction that ends it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from catchment.lake.control.control import Artifact, Control
from catchment.lake.duck.duck import Duck, Never
from catchment.lake.files import storage
from catchment.lake.settings import LakeSettings


def sweep(duck: Duck, control: Control, settings: LakeSettings, refresh_id: int | None = None) -> int:
    """Clean up after one refresh, or after all that are over. Returns how many files have to be looked for again."""
    grace = timedelta(seconds=settings.lake_artifact_grace_seconds)
    artifacts = control.sweepable(refresh_id, grace)
    with duck.turn(Never()):
        gone = set(storage.remove(duck, control, list(_files(duck, artifacts))))
        done = [
            artifact.path
            for artifact in artifacts
            if artifact.is_registered or (artifact.is_final and _is_gone(duck, artifact, gone))
        ]
    if done:
        control.forget_artifacts(done)
    return len(artifacts) - len(done)


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
