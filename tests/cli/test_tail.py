"""``catchment tail`` shows each end once, whatever happens to its connection."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import typer
from psycopg import Connection

from catchment.cli.filters import read_since
from catchment.cli.watch.follow import Follower
from catchment.cli.watch.pace import BURST, PER_SECOND, Pace
from catchment.store.ends import End, Filters
from tests.fixtures import spare
from tests.fixtures.engine import Engine
from tests.fixtures.terminal import OpenTerminal
from tests.fixtures.worker import wait_until

CUT = """
select count(pg_terminate_backend(pid))
  from pg_stat_activity
 where application_name = 'catchment' and datname = current_database() and pid <> pg_backend_pid()
"""


class Piped:
    """``catchment tail`` into files, until it is interrupted."""

    def __init__(self, dsn: str, *arguments: str) -> None:
        self._out = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed by close
        self._err = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed by close
        environment = {**os.environ, "CATCHMENT_DSN": dsn}
        self.process = spare.spare().start(
            "tail", *arguments, environment=environment, out=self._out.fileno(), err=self._err.fileno()
        )

    def lines(self) -> list[str]:
        return _text(self._out).splitlines()

    def said(self) -> str:
        return _text(self._err)

    def close(self) -> None:
        self.process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        self._out.close()
        self._err.close()


def _text(file: Any) -> str:
    with open(f"/proc/self/fd/{file.fileno()}") as again:
        return again.read()


@pytest.fixture
def tail(db: str) -> Iterator[Callable[..., Piped]]:
    with contextlib.ExitStack() as stack:

        def start(*arguments: str) -> Piped:
            made = Piped(db, *arguments)
            stack.callback(made.close)
            return made

        yield start


def _ids(piped: Piped) -> list[int]:
    return [json.loads(line)["id"] for line in piped.lines() if line.endswith("}")]


def test_tail_in_a_terminal_shows_ends_and_stops_by_ctrl_c(committed: Engine, terminal: OpenTerminal) -> None:
    first = committed.enqueue()
    committed.process()
    shown = terminal("tail", "--since", "1h")
    shown.wait_for(f"act {first}")
    second = committed.enqueue(fail="no such host")
    committed.process()
    shown.wait_for(f"act {second}", "P0001: no such host")
    shown.press("\x03")
    assert shown.wait() == 0
    assert "Traceback" not in shown.text
    assert shown.text.count(f"act {first}") == 1
    assert "\x1b[31mfailed" in shown.raw


def test_tail_ends_when_nobody_reads_it_any_more(committed: Engine, db: str) -> None:
    task_id = committed.enqueue()
    committed.process()
    out, into = os.pipe()
    environment = {**os.environ, "CATCHMENT_DSN": db}
    with tempfile.TemporaryFile("w+") as said:
        process = spare.spare().start("tail", "--since", "1h", environment=environment, out=into, err=said.fileno())
        os.close(into)
        with open(out) as lines:
            assert f"act {task_id}" in lines.readline()
        process.wait(60)
        assert _text(said) == ""


@pytest.mark.long
def test_tail_counts_what_nobody_could_read(committed: Engine, terminal: OpenTerminal) -> None:
    committed.conn.execute("select worker.enqueue('act') from generate_series(1, 400)")
    failed = [committed.enqueue(fail="odd") for _ in range(2)]
    committed.drain()
    shown = terminal("tail", "--since", "1h")
    shown.wait_for(f"act {failed[0]}", f"act {failed[1]}", "more completed")
    lines = [line for line in shown.text.splitlines() if " act " in line]
    assert len(lines) <= BURST + PER_SECOND
    shown.press("\x03")
    assert shown.wait() == 0


def test_tail_into_a_pipe_has_every_end_as_a_line(committed: Engine, tail: Callable[..., Piped]) -> None:
    committed.command("other")
    committed.conn.execute("select worker.enqueue('act') from generate_series(1, 250)")
    committed.enqueue("other", lane="a")
    failed = committed.enqueue("other", lane="b", fail="odd")
    committed.drain()
    every, lines = tail("--since", "1h", "--json"), tail("--since", "1h")
    chosen = [
        tail("--since", "1h", "--json", *filters)
        for filters in (
            ["--state", "failed"],
            ["--command", "other", "--state", "completed"],
            ["--lane", "b"],
            ["--queue", "work", "--command", "other"],
            ["--lane", "nonsense"],
        )
    ]
    wait_until(lambda: len(_ids(every)) == 252 and len(lines.lines()) >= 252)
    wait_until(lambda: [len(_ids(piped)) for piped in chosen] == [1, 1, 1, 2, 0])
    assert _ids(chosen[0]) == [failed]
    row = next(json.loads(line) for line in every.lines() if json.loads(line)["id"] == failed)
    assert row["state"] == "failed"
    assert row["lane"] == "b"
    assert row["error"] == "odd"
    assert row["error_kind"] == "P0001"
    assert row["halted"] == {"queue": "work", "lane": "b"}
    assert any("halted" in line and f"catchment task retry {failed}" in line for line in lines.lines())


def test_tail_refuses_a_name_that_nothing_has(committed: Engine, tail: Callable[..., Piped]) -> None:
    assert committed.value("select count(*) from worker.queue_registry where queue = 'work'") == 1
    refused = tail("--queue", "wrok", "--since", "1h")
    assert refused.process.wait(60) == 1
    assert "unknown queue 'wrok'" in refused.said()
    assert "Did you mean work?" in refused.said()


def test_tail_misses_nothing_when_its_connection_is_cut(committed: Engine, tail: Callable[..., Piped]) -> None:
    piped = tail("--json")
    made: list[int] = []

    def run(count: int) -> None:
        made.extend(committed.enqueue() for _ in range(count))
        committed.drain()

    is_up = (
        "select count(*) from pg_stat_activity where application_name = 'catchment' and datname = current_database()"
    )
    wait_until(lambda: committed.value(is_up) and (run(1) or _ids(piped)))
    first = _ids(piped)[0]
    for _ in range(4):
        run(5)
        wait_until(lambda: committed.value(CUT))
        run(5)
    expected = [task_id for task_id in made if task_id >= first]
    wait_until(lambda: sorted(_ids(piped)) == expected)
    assert "the connection is lost" in piped.said()
    assert "connected again" in piped.said()
    assert "Traceback" not in piped.said()
    piped.process.send_signal(2)
    assert piped.process.wait(60) == 0


def _look(follower: Follower, conn: Connection[Any]) -> list[int]:
    return [end.id for page in follower.look(conn) for end in page]


def test_an_end_that_commits_late_is_found_and_a_second_end_counts(committed: Engine, connect: Any) -> None:
    slow, reader = connect(), connect()
    committed.queue("quick")
    committed.command("quick", queue="quick")
    follower = Follower(Filters())
    assert _look(follower, reader) == []
    first = committed.enqueue()
    with slow.transaction():
        slow.execute("call worker.process_tasks(p_queue => 'work')")
        quick = committed.enqueue("quick", fail="once")
        committed.process("quick")
        assert _look(follower, reader) == [quick]
    assert _look(follower, reader) == [first]
    assert _look(follower, reader) == []
    committed.conn.execute("select worker.retry(%s)", [quick])
    committed.process("quick")
    assert _look(follower, reader) == [quick]


def test_pages_of_ends_leave_none_out_and_none_twice(committed: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("catchment.cli.watch.follow.PAGE", 3)
    committed.conn.execute("select worker.enqueue('act') from generate_series(1, 20)")
    committed.drain()
    every = sorted(committed.states())
    assert sorted(_look(Follower(Filters(), timedelta(hours=1)), committed.conn)) == every
    none = Follower(Filters(states=["failed"]), timedelta(hours=1))
    assert _look(none, committed.conn) == []


def test_the_pace_shows_failures_first_and_counts_the_rest() -> None:
    moment = datetime(2030, 1, 1, tzinfo=UTC)
    now = 0.0
    pace = Pace(lambda: now)

    def ends(count: int, failed: Sequence[int] = ()) -> list[End]:
        return [End(n, "failed" if n in failed else "completed", moment, True) for n in range(count)]

    shown, others = pace.choose(ends(10 * BURST, failed=[3]))
    assert [end.id for end in shown] == [3, *range(9 * BURST + 1, 10 * BURST)]
    assert others == {"completed": 9 * BURST}
    assert pace.choose(ends(5)) == ([], {"completed": 5})
    now = 1.0
    shown, others = pace.choose(ends(50))
    assert len(shown) == PER_SECOND
    assert others == {"completed": 30}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90s", timedelta(seconds=90)), ("10m", timedelta(minutes=10)), ("1.5 hours", timedelta(minutes=90))],
)
def test_since_is_a_span_or_a_time(text: str, expected: timedelta) -> None:
    assert read_since(text) == expected
    moment = read_since("2030-01-31 12:00")
    assert isinstance(moment, datetime)
    assert moment.tzinfo is not None
    for wrong in ("", "10", "10 parsecs", "9999999999d", "yesterday"):
        with pytest.raises(typer.BadParameter, match="neither a span"):
            read_since(wrong)
