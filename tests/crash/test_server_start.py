"""The embedded server on a machine that is busy with other things."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import PIPE

import psutil
import psycopg
import pytest

from catchment.errors import ServerUnavailable
from catchment.store import embedded
from tests.fixtures.worker import wait_until

USER = "catchment-test"
MAKE_USER = f"""
import sys
from catchment.store.data_directory import server_user
print("ready", flush=True)
sys.stdin.read()
print(*server_user("{USER}"))
"""


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


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as another user")
def test_programs_that_make_the_user_of_the_server_at_once_make_one() -> None:
    command = [sys.executable, "-c", MAKE_USER]
    try:
        for _ in range(4):
            subprocess.run(["userdel", USER], capture_output=True)
            programs = [subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True) for _ in range(4)]
            for program in programs:
                assert program.stdout is not None
                assert program.stdout.readline() == "ready\n"
            for program in programs:
                assert program.stdin is not None
                program.stdin.close()
                program.stdin = None
            assert len({program.communicate()[0] for program in programs}) == 1
            assert [program.returncode for program in programs] == [0] * 4
    finally:
        subprocess.run(["userdel", USER], check=True, capture_output=True)
