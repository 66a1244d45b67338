"""The embedded server on a machine that is busy with other things."""

from __future__ import annotations

import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import psycopg
import pytest

from catchment.errors import ServerUnavailable
from catchment.store import embedded
from tests.fixtures.worker import wait_until


def _answers(dsn: str) -> bool:
    with psycopg.connect(dsn) as conn:
        return conn.execute("select 1").fetchall() == [(1,)]


@pytest.mark.long
def test_a_server_that_is_still_starting_is_waited_for(folder: Path) -> None:
    data = folder / "data"
    embedded.start(data)
    embedded.stop(data)
    starting = subprocess.Popen(["sleep", "3600"])
    lines = [starting.pid, data, 1, 5432, folder, "", "1 1", "starting"]
    (data / "postmaster.pid").write_text("".join(f"{line}\n" for line in lines))

    def give_up() -> None:
        (data / "postmaster.pid").unlink()
        starting.kill()

    later = threading.Timer(1, give_up)
    later.start()
    try:
        assert _answers(embedded.start(data))
    finally:
        later.join()
        starting.kill()
        starting.wait()


@pytest.mark.long
def test_a_first_start_whose_initdb_was_killed_is_done_again(folder: Path) -> None:
    data = folder / "data"
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(embedded.start, data)
        wait_until((data / ".catchment-making" / "base").exists)
        for process in psutil.Process().children():
            if process.name() == "initdb":
                process.kill()
        with pytest.raises(ServerUnavailable, match="initdb"):
            first.result()
    assert _answers(embedded.start(data))
