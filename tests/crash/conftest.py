"""What tests of the embedded server share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures.server import make_folder, stop_server


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder for data directories; servers that are left in them are stopped."""
    folder = make_folder("server")
    yield folder
    for left in folder.rglob("postmaster.pid"):
        stop_server(left.parent)
    shutil.rmtree(folder, ignore_errors=True)
