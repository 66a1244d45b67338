"""The schema of the embedded server: whoever comes first brings it up to date."""

from __future__ import annotations

import pytest

from tests.fixtures.embedded import Own
from tests.fixtures.often import often

ENQUEUES = """
from catchment import App
app = App()

@app.command()
async def greet(name: str) -> None: ...

print(greet.sync.enqueue(name="Ada").id is not None)
app.sync.close()
"""
ASYNC = ENQUEUES.replace('greet.sync.enqueue(name="Ada").id', 'asyncio.run(greet.enqueue(name="Ada")).id').replace(
    "from catchment", "import asyncio\nfrom catchment", 1
)
CONNECTS = """
import catchment
with catchment.connect() as conn:
    print(conn.execute("select count(*) = 0 from worker.tasks").fetchone()[0])
"""
LAKE = """
from catchment.lake import Lake
with Lake():
    print(True)
"""
# As if an upgrade had been broken off.
BREAK = "update worker.version set fingerprint = ''"
# As if a newer version had written it, which code of today cannot work with.
RENEW = "update worker.version set compatible_from = 9999, release = '999.0.0'"
KEEP = {"CATCHMENT_KEEP_SECONDS": "60"}


@pytest.mark.long
def test_a_client_that_comes_first_finds_the_schema(own: Own) -> None:
    done = own.run("-c", CONNECTS)
    assert (done.stdout, done.returncode) == ("True\n", 0), done.stderr


@pytest.mark.parametrize(
    "arguments",
    often(("-c", ENQUEUES), now_and_then=[("-c", LAKE), ("-c", ASYNC), ("-m", "catchment", "register", "init")]),
    ids=["sync", "lake", "async", "register"],
)
def test_the_first_client_after_an_upgrade_migrates(ready: Own, arguments: tuple[str, ...]) -> None:
    assert ready.command("psql", "-c", BREAK, **KEEP).returncode == 0
    done = ready.run(*arguments, **KEEP)
    assert done.returncode == 0, done.stderr
    dsn = f"host={ready.data} user=postgres dbname=postgres"
    assert ready.command("queue", "list", "--dsn", dsn).returncode == 0


@pytest.mark.long
def test_data_of_a_newer_version_are_refused_by_the_name_of_their_folder(ready: Own) -> None:
    assert ready.command("psql", "-c", RENEW, **KEEP).returncode == 0
    for done in (ready.command("queue", "list"), ready.run("-c", ENQUEUES)):
        assert done.returncode == 1
        assert f"cannot use the data of the embedded server in {ready.data}: schema worker works with" in done.stderr
    assert "choose another folder with CATCHMENT_DATA" in ready.command("queue", "list").stderr


def test_another_server_is_never_migrated_by_a_client(ready: Own) -> None:
    assert ready.command("psql", "-c", BREAK, **KEEP).returncode == 0
    dsn = f"host={ready.data} user=postgres dbname=postgres"
    done = ready.command("queue", "list", "--dsn", dsn)
    assert done.returncode == 1
    assert f"(database postgres on {ready.data})" in done.stderr
    assert "Run: catchment migrate" in done.stderr
