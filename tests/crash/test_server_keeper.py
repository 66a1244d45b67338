"""The embedded server stays for a while after its last use, and never for good."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess

import psycopg
import pytest

from catchment.errors import RequestRefused
from catchment.store import embedded
from tests.fixtures.embedded import Own
from tests.fixtures.often import often
from tests.fixtures.worker import wait_until

ENQUEUES = """
from catchment import App
app = App()

@app.command()
async def greet(name: str) -> None: ...

print(greet.sync.enqueue(name="Ada").id)
"""
USES = """
from catchment.store import embedded
print(embedded.start(), flush=True)
input()
"""
LOOKS = USES.replace(
    "input()",
    """
import catchment
while input() == "look":
    with catchment.connect() as conn:
        print(*conn.execute("select count(*) from worker.tasks").fetchone(), flush=True)
""",
)


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def _answers(dsn: str) -> bool:
    try:
        with psycopg.connect(dsn) as conn:
            return conn.execute("select 1").fetchall() == [(1,)]
    except psycopg.OperationalError:
        return False


@pytest.mark.parametrize("number", often(4, now_and_then=[8]))
def test_several_clients_come_first_together(own: Own, number: int) -> None:
    clients = [own.start("-c", ENQUEUES) for _ in range(number)]
    assert {_line(client) for client in clients} == {str(n) for n in range(1, number + 1)}
    assert [client.wait() for client in clients] == [0] * number, (own.at / "errors").read_text()
    wait_until(lambda: not own.processes())


@pytest.mark.long
def test_psql_works_between_two_commands(ready: Own) -> None:
    assert ready.command("queue", "list").returncode == 0
    keeper = ready.keeper()
    assert keeper is not None
    # By hand, as soon as the command has ended.
    assert _answers(f"host={ready.data} user=postgres dbname=postgres")
    done = ready.command(
        "psql", "-Atc", "select 1", "-c", "select count(*) from worker.tasks", CATCHMENT_KEEP_SECONDS="9"
    )
    assert (done.stdout, done.returncode) == ("1\n0\n", 0), done.stderr
    failed = ready.command("psql", "-v", "ON_ERROR_STOP=1", "-c", "select nothing")
    assert (failed.returncode, "column" in failed.stderr) == (1, True)
    shown = ready.command("queue", "list", "--json", CATCHMENT_KEEP_SECONDS="0")
    assert [queue["queue"] for queue in json.loads(shown.stdout)] == ["bulk_changes", "maintenance"]
    wait_until(lambda: not ready.processes())


@pytest.mark.long
def test_a_session_by_hand_keeps_the_server(ready: Own) -> None:
    assert ready.command("queue", "list", CATCHMENT_KEEP_SECONDS="0.2").returncode == 0
    with psycopg.connect(f"host={ready.data} user=postgres dbname=postgres") as conn:
        # Several times as long as it would stay without.
        assert conn.execute("select pg_sleep(2)").fetchall() == [("",)]
        assert conn.execute("select 1").fetchall() == [(1,)]
    wait_until(lambda: not ready.processes())


def test_a_killed_client_that_left_a_busy_session_leaves_no_server(ready: Own) -> None:
    busy = USES.replace("input()", "import psycopg\npsycopg.connect(embedded.start()).execute('select pg_sleep(3600)')")
    client = ready.start("-c", busy)
    dsn = _line(client)
    with psycopg.connect(dsn, autocommit=True) as conn:
        wait_until(lambda: conn.execute("select from pg_stat_activity where query ~ '^select pg_sleep'").fetchall())
    client.kill()
    wait_until(lambda: not ready.processes())


@pytest.mark.long
@pytest.mark.parametrize("victim", ["keeper", "server"])
def test_a_client_whose_server_was_killed_goes_on(ready: Own, victim: str) -> None:
    client = ready.start("-c", LOOKS)
    assert client.stdin is not None
    assert _line(client)
    pid = ready.keeper() if victim == "keeper" else ready.server()
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: pid not in ready.processes())
    client.stdin.write("look\n")
    client.stdin.flush()
    assert _line(client) == "0", (ready.at / "errors").read_text()
    assert ready.keeper() not in (None, pid)
    client.stdin.write("end\n")
    client.stdin.flush()
    assert client.wait() == 0
    wait_until(lambda: not ready.processes())


def test_a_keeper_killed_after_the_last_client_leaves_no_server(ready: Own) -> None:
    assert ready.command("queue", "list", CATCHMENT_KEEP_SECONDS="3600").returncode == 0
    keeper = ready.keeper()
    assert keeper is not None
    os.kill(keeper, signal.SIGKILL)
    wait_until(lambda: not ready.processes())


@pytest.mark.long
def test_a_keeper_that_is_terminated_stops_its_server(ready: Own) -> None:
    assert ready.command("queue", "list", CATCHMENT_KEEP_SECONDS="3600").returncode == 0
    keeper = ready.keeper()
    assert keeper is not None
    os.kill(keeper, signal.SIGTERM)
    wait_until(lambda: not ready.processes())
    assert not (ready.data / "postmaster.pid").exists()


def test_a_server_whose_folder_was_removed_ends_at_once(ready: Own) -> None:
    client = ready.start("-c", USES, CATCHMENT_KEEP_SECONDS="3600")
    assert _answers(_line(client))
    shutil.rmtree(ready.data, ignore_errors=True)
    wait_until(lambda: not ready.processes())


@pytest.mark.long
def test_a_worker_whose_folder_was_removed_ends_with_one_error(ready: Own) -> None:
    worker = ready.start("-m", "catchment", "worker", CATCHMENT_KEEP_SECONDS="3600")
    errors = ready.at / "errors"
    wait_until(lambda: "serves maintenance" in errors.read_text())
    # As rm -rf does it, file by file, while keeper, server and worker notice.
    for path in sorted(ready.data.iterdir(), key=lambda path: path.name != "PG_VERSION"):
        subprocess.run(["rm", "-rf", path], check=True)
        wait_until(lambda: not ready.processes())
    assert worker.wait(timeout=60) == 3
    said = errors.read_text()
    assert said.count("was removed or replaced while it was in use") == 1
    assert said.count("WARNING") < 25, said
    # What they have left is no obstacle.
    assert ready.command("queue", "list", "--json").returncode == 0


@pytest.mark.long
@pytest.mark.parametrize("_", range(10))
def test_a_folder_that_is_removed_in_use_can_be_used_again(ready: Own, _: int) -> None:
    worker = ready.start("-m", "catchment", "worker", CATCHMENT_KEEP_SECONDS="3600")
    errors = ready.at / "errors"
    wait_until(lambda: "serves maintenance" in errors.read_text())
    server = ready.server()
    assert server is not None
    os.kill(server, signal.SIGKILL)  # the worker starts it again meanwhile
    subprocess.run(["rm", "-rf", ready.data], check=False)
    assert worker.wait(timeout=60) == 3
    assert errors.read_text().count("was removed or replaced while it was in use") == 1
    assert ready.command("queue", "list", "--json").returncode == 0


@pytest.mark.long
def test_a_server_whose_folder_was_moved_ends_at_once_and_keeps_its_data(ready: Own) -> None:
    assert ready.command("psql", "-c", "create table kept ()", CATCHMENT_KEEP_SECONDS="3600").returncode == 0
    moved = ready.at / "moved"
    ready.data.rename(moved)
    wait_until(lambda: not ready.processes())
    ready.data = moved
    done = ready.command("psql", "-Atc", "select count(*) from kept")
    assert (done.stdout, done.returncode) == ("0\n", 0), done.stderr


@pytest.mark.long
def test_a_first_start_that_is_terminated_leaves_nothing(own: Own) -> None:
    client = own.start("-c", USES)
    wait_until((own.data / ".catchment-making" / "base").exists)
    client.terminate()
    assert client.wait() == -signal.SIGTERM
    wait_until(lambda: not own.processes())
    assert own.run("-c", ENQUEUES).stdout == "1\n"


@pytest.mark.long
def test_a_first_start_that_takes_long_says_what_is_done(own: Own) -> None:
    program = f"from catchment.store import slow_start\nslow_start.AFTER = 0\n{ENQUEUES}"
    clients = [own.start("-c", program) for _ in range(2)]
    assert {_line(client) for client in clients} == {"1", "2"}
    said = (own.at / "errors").read_text().splitlines()
    for step in ("Creating a", "Starting the"):
        assert f"{step} PostgreSQL server in {own.data} …" in said
    # The other one waits for it.
    assert said.count(f"Bringing the schema of the PostgreSQL server in {own.data} up to date …") == 1


@pytest.mark.long
def test_a_start_that_is_terminated_leaves_nothing(ready: Own) -> None:
    client = ready.start("-c", USES)
    wait_until(lambda: ready.server() is not None)
    client.terminate()
    assert client.wait() == -signal.SIGTERM
    wait_until(lambda: not ready.processes())


@pytest.mark.parametrize("seconds", ["soon", "-1", "inf", "nan", "1h"])
def test_keep_seconds_that_are_no_number_are_refused(seconds: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CATCHMENT_KEEP_SECONDS", seconds)
    with pytest.raises(RequestRefused, match=f"CATCHMENT_KEEP_SECONDS is '{seconds}' .*, expected a number of seconds"):
        embedded.keep_seconds()
