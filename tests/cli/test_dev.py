"""``catchment dev``: one command that serves an app, follows its files, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from catchment.cli.dev.files import Watch, own_files
from catchment.cli.dev.outage import Outage
from tests.fixtures.engine import Engine
from tests.fixtures.often import often
from tests.fixtures.server import Connect
from tests.fixtures.spare import Forked, run, spare
from tests.fixtures.worker import wait_until
from tests.worker.crew import is_alive

BOOK = """
import catchment

app = catchment.App(queue="books")


@app.command
async def page(n: int) -> str:
    if n == 0:
        raise ValueError("there is\\nno page 0")
    return "old"


@app.command
async def book(ctx: catchment.Context) -> None:
    ctx.spawn(page, n=1)
"""


class Dev:
    """A running ``catchment dev`` in a folder."""

    def __init__(
        self, folder: Path, dsn: str | None, arguments: tuple[str, ...], stack: ExitStack, *, dashboard: bool = False
    ) -> None:
        self.folder = folder
        self._log = folder / "dev.log"
        file = stack.enter_context(self._log.open("wb"))
        environment = {name: value for name, value in os.environ.items() if name != "CATCHMENT_DSN"}
        environment |= {"COLUMNS": "1000"} | ({} if dsn is None else {"CATCHMENT_DSN": dsn})
        self.process: Forked = spare().start(
            *("dev", *(() if dashboard else ("--no-dashboard",)), *arguments),
            environment=environment,
            out=file.fileno(),
            err=file.fileno(),
        )
        stack.callback(self.process.wait)
        stack.callback(self.process.kill)

    @property
    def said(self) -> str:
        return self._log.read_text()

    def wait_for(self, text: str, count: int = 1) -> None:
        """Wait until it has said this, as often as that."""
        try:
            wait_until(
                lambda: len(re.findall(text, self.said)) >= count or self.process.poll() is not None, seconds=200
            )
        finally:
            assert len(re.findall(text, self.said)) >= count, self.said

    def child(self) -> int:
        """The process that runs the worker."""
        (pid,) = self.children()
        return pid

    def children(self) -> list[int]:
        """Its processes."""
        pids = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(pid) for pid in pids.split()]

    def write(self, name: str, text: str) -> None:
        """As editors do: another file, renamed."""
        new = self.folder / f"{name}.new"
        new.write_text(text)
        new.rename(self.folder / name)

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ExitStack]:
    """What ends with the test. The current folder is the test's."""
    monkeypatch.chdir(tmp_path)
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def engine(connect: Connect) -> Engine:
    return Engine(connect())


# A mistake that importing the module does not show.
FORGOTTEN = """
import catchment

app = catchment.App(queue="books")


@app.command
async def book(ctx: catchment.Context) -> int:
    return ctx.result_of_join()
"""


def test_an_app_is_served_reloaded_after_a_mistake_too_and_ended_by_ctrl_c(
    tmp_path: Path, db: str, engine: Engine, started: ExitStack
) -> None:
    (tmp_path / "shop.py").write_text(FORGOTTEN)
    dev = Dev(tmp_path, db, ("shop:app",), started)
    dev.wait_for("waits for a change of the files")
    assert "join" in dev.said
    dev.write("shop.py", BOOK)
    dev.wait_for(r"serves shop:app \(page, book\)")
    failed, parent = engine.enqueue("page", n=0), engine.enqueue("book")
    dev.wait_for(rf"failed +page {failed}  handler \d+\.\d+ s  ValueError: there is no page 0 \(shop\.py:10\)\n")
    dev.wait_for(rf"waiting +book {parent}  handler \d")
    dev.wait_for(rf"completed +book {parent}  \d")
    first = dev.child()

    dev.write("shop.py", BOOK + "def f(:\n")
    dev.wait_for(r"shop\.py changed: reloading")
    dev.wait_for(r"module shop cannot be imported: SyntaxError: .*\n    def f\(:\n")
    dev.wait_for("waits for a change of the files", count=2)
    assert not is_alive(first)

    dev.write("shop.py", BOOK.replace("old", "new") + "import words\n")
    dev.wait_for(r"No module named 'words'")
    dev.write("words.py", "")  # a file that was not there
    dev.wait_for(r"words\.py changed: reloading")
    dev.wait_for("serves shop:app", count=2)
    task = engine.enqueue("page", n=2)
    dev.wait_for(rf"completed +page {task} ")
    assert engine.value("select result from worker.tasks where id = %s", task) == "new"
    last = dev.child()
    dev.interrupt()
    assert dev.process.wait(60) == 0, dev.said
    assert not is_alive(last)
    assert engine.value("select count(*) from worker.worker") == 0


# It configures logging for itself, and thereby disables all loggers that exist.
BILLS = """
import catchment
import logging.config
from datetime import timedelta

logging.config.dictConfig({"version": 1})
log = logging.getLogger("shop.bills")

app = catchment.App(queue="books")


@app.command(max_attempts=2, retry=catchment.Retry(delay=timedelta(seconds=1)))
async def bill(n: int) -> None:
    log.info("writes bill %s", n)
    error = ValueError("no paper")
    error.add_note("Buy some.")
    raise error


@app.command(max_attempts=3)
async def refuse() -> None:
    raise catchment.GiveUp("never")


@app.command(on_failure="continue")
async def pack(n: int) -> None:
    if n == 1:
        raise ValueError("torn")


@app.command(on_failure="cancel_rest")
async def ship(n: int) -> None:
    raise ValueError("no truck")


@app.command(max_attempts=3, retry=catchment.Retry(delay=timedelta()))
async def insist(ctx: catchment.Context) -> None:
    if ctx.attempt < 3:
        raise ValueError("not yet")
"""


ENDED = "select id from worker.tasks where completed_at is not null and queue = 'books' order by completed_at, id"


@pytest.mark.long
def test_a_failed_attempt_says_what_follows_from_it_and_a_renamed_command_what_to_do(
    tmp_path: Path, db: str, engine: Engine, started: ExitStack
) -> None:
    (tmp_path / "shop.py").write_text(BILLS)
    dev = Dev(tmp_path, db, ("shop:app",), started)
    dev.wait_for(r"serves shop:app")
    # Tasks of other projects: on a queue of their own, and on this one, where a folder says whose they are.
    for name, queue, module, project in (("paint", "studio", "art", None), ("draw", "books", "shop", "/elsewhere")):
        engine.conn.execute("insert into worker.queue_registry (queue) values (%s) on conflict do nothing", [queue])
        engine.command(name, queue, handler_kind="python", handler_procedure=f"{module}:{name}", project=project)
        engine.enqueue(name)
    task, given_up = engine.enqueue("bill", lane="order 17", n=1), engine.enqueue("refuse")
    dev.wait_for(rf"failed +refuse {given_up}  handler \S+ s  failure 1 of 3, not retried: GiveUp: never")
    dev.wait_for(rf"retry +bill {task}  handler \S+ s  failure 1 of 2, again in \S+ s: ValueError: no paper \(shop")
    dev.wait_for(rf"info +\[bill {task}\] shop\.bills: writes bill 1\n")
    dev.wait_for(rf"info +\[bill {task}, attempt 2\] shop\.bills: writes bill 1\n")
    dev.wait_for(
        rf"failed +bill {task} .* failure 2 of 2, the last: ValueError: no paper \(shop\S+\); hint: Buy some\.\n"
    )
    dev.wait_for(rf"halted +lane order 17 of queue books, because task {task} failed\..*catchment task retry {task}\.")
    dev.wait_for("To skip it: catchment lane skip books 'order 17'\n")
    dev.wait_for(rf"completed +insist {engine.enqueue('insist')}  handler \S+ s  attempt 3\n")
    # Ends without a run are shown too, and all in their order.
    later = engine.value("select worker.enqueue('refuse', p_scheduled_at => now() + interval '1 day')")
    engine.value("select worker.cancel(%s, 'not needed')", later)
    dev.wait_for(rf"cancelled +refuse {later}  not needed\n")
    with engine.conn.transaction():
        packed = [engine.enqueue("pack", lane="box", n=n) for n in range(4)]
        shipped = [engine.enqueue("ship", lane="box 2", n=n) for n in range(3)]
    dev.wait_for(rf"cancelled +ship {shipped[-1]} ")
    dev.wait_for(rf"completed +pack {packed[-1]} ")
    ends = [int(task) for task in re.findall(r" (?:completed|failed|cancelled) +\w+ (\d+) ", dev.said)]
    assert ends == [row[0] for row in engine.conn.execute(ENDED).fetchall()]

    dev.write("shop.py", BILLS.replace("def bill", "def charge"))
    dev.wait_for(r"serves shop:app \(charge, refuse, pack, ship, insist\)")
    old = engine.enqueue("bill", n=2)
    dev.wait_for(r"1 task of bill on queue books waits: no worker has the command bill \(shop:bill\)\.")
    (cancel,) = re.findall(r"name='bill'\)\. To cancel: catchment (task cancel --command bill)\n", dev.said)
    done = run(*cancel.split(), "--yes", environment={**os.environ, "CATCHMENT_DSN": db}, timeout=60)
    assert done.returncode == 0, done.stderr
    wait_until(lambda: engine.state(old) == "cancelled")
    assert "paint" not in dev.said
    assert "draw" not in dev.said


@pytest.mark.parametrize(
    ("name", "says", "typed"),
    [
        pytest.param("shp:app", "there is no module shp", "Type: catchment dev shop:app", marks=pytest.mark.long),
        ("shop:ap", "ap in shop is not there, expected a catchment.App", "Type: catchment dev shop:app"),
    ],
)
def test_a_wrong_name_ends_it_at_once_with_what_to_type(
    tmp_path: Path, started: ExitStack, name: str, says: str, typed: str
) -> None:
    (tmp_path / "shop.py").write_text(BOOK)
    dev = Dev(tmp_path, "host=/nowhere", (name,), started)
    assert dev.process.wait(60) == 2
    assert says in dev.said
    assert typed in dev.said


@pytest.mark.long
def test_a_database_of_the_user_is_migrated_only_when_asked_to(
    tmp_path: Path, server: str, db: str, engine: Engine, started: ExitStack
) -> None:
    (tmp_path / "shop.py").write_text(BOOK)
    engine.conn.execute("drop schema worker cascade")
    dev = Dev(tmp_path, db, ("shop:app",), started)
    assert dev.process.wait(60) == 1
    assert "catchment dev --migrate" in dev.said
    assert engine.value("select count(*) from pg_namespace where nspname = 'worker'") == 0
    dev = Dev(tmp_path, db, ("--migrate", "shop:app"), started)
    dev.wait_for("the schema is installed and up to date")
    dev.wait_for("serves shop:app")


STUBBORN = """
import time
import catchment

app = catchment.App(queue="books")


@app.command
async def sleep() -> None:
    print("sleeps", flush=True)
    time.sleep(1000)
"""


@pytest.mark.long
@pytest.mark.parametrize("end", often("killed", now_and_then=["second Ctrl-C"]))
def test_the_worker_ends_with_its_supervisor_whatever_handlers_do(
    tmp_path: Path, db: str, engine: Engine, started: ExitStack, end: str
) -> None:
    (tmp_path / "shop.py").write_text(STUBBORN)
    dev = Dev(tmp_path, db, ("shop:app",), started)
    dev.wait_for("serves shop:app")
    engine.enqueue("sleep")
    dev.wait_for("sleeps")
    child = dev.child()
    if end == "killed":
        dev.process.kill()
    else:
        dev.interrupt()
        dev.wait_for("a second Ctrl-C")
        dev.interrupt()
        assert dev.process.wait(60) in (0, 130)
    wait_until(lambda: not is_alive(child))


SLOW = """
import asyncio
import catchment

app = catchment.App(queue="books")


@app.command
async def read() -> None:
    try:
        await asyncio.sleep(1000)
    finally:
        print("reads no more", flush=True)
"""


@pytest.mark.long
def test_a_signal_for_the_whole_group_ends_it_in_order(
    tmp_path: Path, db: str, engine: Engine, started: ExitStack
) -> None:
    """``kill %1`` in a shell: the worker gets the signal too, and must not die of it before it has said goodbye."""
    (tmp_path / "shop.py").write_text(SLOW)
    dev = Dev(tmp_path, db, ("shop:app",), started)
    wait_until(lambda: engine.value("select count(*) from worker.command_registry where command = 'read'") == 1)
    task = engine.enqueue("read")
    wait_until(lambda: engine.state(task) == "processing")
    os.kill(dev.child(), signal.SIGTERM)
    dev.process.send_signal(signal.SIGTERM)
    dev.process.wait(60)
    assert engine.state(task) == "pending"
    assert engine.value("select count(*) from worker.worker") == 0


@pytest.mark.long
def test_it_ends_in_order_when_its_terminal_is_gone(
    tmp_path: Path, db: str, engine: Engine, started: ExitStack
) -> None:
    """A shell that is left with exit sends its background jobs no signal, and each write to the terminal fails."""
    (tmp_path / "shop.py").write_text(SLOW)
    master, terminal = os.openpty()
    process = spare().start(
        *("dev", "--no-dashboard", "shop:app"),
        environment={**os.environ, "CATCHMENT_DSN": db},
        out=terminal,
        err=terminal,
    )
    started.callback(process.kill)
    os.close(terminal)
    wait_until(lambda: engine.value("select count(*) from worker.command_registry where command = 'read'") == 1)
    task = engine.enqueue("read")
    wait_until(lambda: engine.state(task) == "processing")
    os.close(master)
    process.wait(60)
    assert engine.state(task) == "pending"
    assert engine.value("select count(*) from worker.worker") == 0


@pytest.mark.long
def test_a_worker_that_dies_is_started_again(tmp_path: Path, db: str, engine: Engine, started: ExitStack) -> None:
    (tmp_path / "shop.py").write_text(BOOK)
    dev = Dev(tmp_path, db, ("shop:app",), started)
    dev.wait_for("serves shop:app")
    os.kill(dev.child(), signal.SIGKILL)
    dev.wait_for("the worker ended by SIGKILL: it starts again")
    dev.wait_for("serves shop:app", count=2)
    task = engine.enqueue("page", n=1)
    dev.wait_for(f"completed +page {task} ")


@pytest.mark.long
@pytest.mark.timeout(900)
def test_the_embedded_server_needs_nothing(tmp_path: Path, started: ExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shop.py").write_text(BOOK)
    data = tmp_path / "data"
    monkeypatch.setenv("CATCHMENT_DATA", str(data))
    monkeypatch.setenv("CATCHMENT_KEEP_SECONDS", "1")
    dev = Dev(tmp_path, None, ("shop:app",), started)
    dev.wait_for(f"uses the embedded PostgreSQL in {data}. To look into it: catchment psql")
    dev.wait_for("serves shop:app")
    with psycopg.connect(f"host={data} user=postgres dbname=postgres", autocommit=True) as conn:
        task = Engine(conn).enqueue("page", n=1)
    dev.wait_for(f"completed +page {task} ")
    dev.write("shop.py", BOOK + "\n")
    dev.wait_for("serves shop:app", count=2)
    dev.interrupt()
    assert dev.process.wait(60) == 0
    wait_until(lambda: not (data / "postmaster.pid").exists())


def test_files_are_compared_with_what_they_were_when_reading_began(tmp_path: Path) -> None:
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text("1")
    os.utime(one, ns=(1000, 1000))
    watch = Watch()
    watch.begin(2000)
    two.write_text("2")
    watch.add([str(one), str(two)])
    assert watch.changed() == [str(two)]  # written after the process had begun
    watch.begin(3000)
    watch.add([str(two)])
    assert watch.changed() == []  # reported once
    one.unlink()
    assert watch.changed() == [str(one)]


@pytest.mark.long
def test_an_app_is_made_of_its_own_modules_alone() -> None:
    files = own_files()
    assert __file__ in files
    assert not [file for file in files if "site-packages" in file or "/catchment/" in file or "/lib/python" in file]


def test_a_lost_connection_is_one_line_and_its_return_another(db: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each part of the worker reports its own."""
    outage = Outage()
    texts = ["completer: the server\n has gone", "upkeep: the server has gone", "press/child: it is starting"]
    for text in texts:
        record = logging.makeLogRecord({"msg": text, "event": "connection.lost"})
        assert outage.hides(record)
    assert not outage.hides(logging.makeLogRecord({"msg": "x", "event": "task.processed"}))
    (lost,) = capsys.readouterr().err.splitlines()
    assert lost.endswith("the connection to the database is lost: the server has gone")

    async def watch() -> str:
        watching = asyncio.create_task(outage.watch(db))
        said = ""
        while not said:
            await asyncio.sleep(0.05)
            said = capsys.readouterr().err
        watching.cancel()
        return said

    assert asyncio.run(watch()).endswith("to the database again\n")
