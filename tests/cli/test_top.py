"""``catchment top`` and ``task tree --watch`` in a real terminal, and as text."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import Any

import pytest
from rich.console import Console

from catchment.cli.watch.screen import PARTS, allot, draw, estimate
from catchment.cli.watch.tree import watch_tree
from catchment.commands.output import STATE_SHAPES, STATE_STYLES
from catchment.model.state import TaskState
from catchment.store.overview import Overview, read_overview
from tests.fixtures import spare
from tests.fixtures.engine import Engine
from tests.fixtures.terminal import OpenTerminal
from tests.fixtures.worker import wait_until

CUT = """
select count(pg_terminate_backend(pid))
  from pg_stat_activity
 where application_name = 'catchment' and datname = current_database() and pid <> pg_backend_pid()
"""


def _scope(engine: Engine, children: int) -> int:
    """A scope of which nothing but the parent has run."""
    parent = engine.enqueue(spawn=[{"note": f"child {n}"} for n in range(children)])
    engine.process()
    return parent


def test_top_shows_queues_scopes_and_failures_as_they_change(committed: Engine, terminal: OpenTerminal) -> None:
    parent = _scope(committed, 3)
    top = terminal("top", "--interval", "0.2")
    top.wait_for("catchment top", "work", f"act {parent}", "0 of 3", "None.")
    committed.queue("other")
    committed.command("bad", queue="other")
    failed = committed.enqueue("bad", fail="no such host")
    committed.process("other")
    top.wait_for(f"bad {failed}", "no such host")
    committed.conn.execute("call worker.process_tasks(p_queue => 'work', p_batch_size => 1)")
    top.wait_for("1 of 3")
    top.press("3")
    top.wait_for_screen(lambda screen: "Open scopes" in screen and "Queues" not in screen)
    top.press("p")
    top.wait_for("paused")
    top.press("q")
    assert top.wait() == 0
    assert "Traceback" not in top.text
    assert top.raw.rstrip().endswith("\x1b[?25h") or "\x1b[?1049l" in top.raw


def test_top_stays_when_its_connection_is_cut_and_ends_by_ctrl_c(committed: Engine, terminal: OpenTerminal) -> None:
    top = terminal("top", "--interval", "0.1")
    top.wait_for("catchment top")
    wait_until(lambda: committed.value(CUT))
    top.wait_for("connection lost since")
    parent = _scope(committed, 2)
    top.wait_for(f"act {parent}")
    top.press("\x03")
    assert top.wait() == 0
    assert "Traceback" not in top.text


def test_top_is_printed_once_where_nothing_can_be_drawn_over(committed: Engine, terminal: OpenTerminal) -> None:
    top = terminal("top", kind="dumb")
    top.wait_for("Queues", "work")
    assert top.wait() == 0


def test_top_once_prints_it_all_and_json_has_the_same(committed: Engine, db: str) -> None:
    parent = _scope(committed, 2)
    environment = {**os.environ, "CATCHMENT_DSN": db}
    environment.pop("COLUMNS", None)
    text = spare.run("top", environment=environment, timeout=60)
    assert (text.returncode, text.stderr) == (0, "")
    assert f"act {parent}" in text.stdout
    assert "0 of 2" in text.stdout
    seen = json.loads(spare.run("top", "--json", environment=environment, timeout=60).stdout)
    (queue,) = (row for row in seen["queues"] if row["queue"] == "work")
    assert (queue["ready"], queue["waiting"]) == (2, 1)
    assert [(row["id"], row["done"], row["total"]) for row in seen["scopes"]] == [(parent, 0, 2)]
    assert seen["failures"] == []


def test_a_tree_is_watched_until_its_task_has_settled(committed: Engine, terminal: OpenTerminal) -> None:
    parent = _scope(committed, 2)
    ends_well = terminal("task", "tree", str(parent), "--watch")
    ends_well.wait_for("0 of 2 children have ended")
    committed.value(CUT)
    ends_well.wait_for("the connection is lost")
    # The picture is whole again, and there is one.
    ends_well.wait_for_screen(lambda screen: "is lost" not in screen and screen.count("children have ended") == 1)
    committed.drain()
    assert ends_well.wait() == 0
    assert ends_well.text.rstrip().count("completed") >= 3
    bad = committed.enqueue(spawn=[{"fail": "odd"}])
    committed.process()
    ends_badly = terminal("task", "tree", str(bad), "--watch")
    ends_badly.wait_for("0 of 1 children have ended")
    committed.drain()
    assert ends_badly.wait() == 1
    assert "odd" in ends_badly.text
    assert "Traceback" not in ends_badly.text


def test_a_huge_scope_is_watched_by_its_counts_alone(committed: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("catchment.cli.watch.tree.MOST_CHILDREN", 1)
    parent = _scope(committed, 2)
    reads: list[str] = []

    def read(_: Any) -> list[dict[str, Any]]:
        reads.append(committed.state(parent))
        return []

    monkeypatch.setattr("catchment.cli.watch.tree.time.sleep", lambda _: committed.drain())
    dsn = committed.conn.info.dsn
    assert watch_tree(dsn, parent, read, lambda _: "") == ("completed", [])
    assert reads == ["completed"]


def _overview(rows: int) -> Overview:
    queue: dict[str, Any] = dict.fromkeys(("ready", "later", "blocked", "processing", "waiting", "workers"), 0)
    queue |= {"is_paused": False, "failed_last_hour": 0, "oldest_ready_seconds": None, "ended_per_second": 0.0}
    scope = {"command": "build", "queue": "q", "lane": None, "waits_for": "children", "failed": 0, "seconds": 10.0}
    worker: dict[str, Any] = {"worker_id": 7, "pid": 1, "version": "1.0", "queues": ["q"], "capacity": 4, "running": 1}
    worker |= {"memory_usage": 0.5, "seen_seconds": 1.0, "up_seconds": 1.0, "is_silent": False}
    at = datetime(2030, 1, 1, tzinfo=UTC)
    return Overview(
        at=at,
        database="shop",
        queues=[{**queue, "queue": f"queue [{n}]" + "x" * 90} for n in range(rows)],
        workers=[{**worker, "name": f"worker {n}"} for n in range(rows)],
        scopes=[{**scope, "id": n, "done": 2310, "total": 2337} for n in range(rows)],
        failures=[
            {"id": n, "command": "send", "queue": "q", "lane": None, "completed_at": at, "error": "a\nb" * 99}
            for n in range(rows)
        ],
        running=[
            {
                "id": n,
                "command": "pay",
                "queue": "q",
                "lane": None,
                "worker_id": 7,
                "host": "h",
                "pid": 1,
                "seconds": 2.0,
            }
            for n in range(rows)
        ],
    )


@pytest.mark.parametrize(("width", "height"), [(80, 24), (40, 10), (30, 24), (200, 60), (80, 15)])
@pytest.mark.parametrize("rows", [0, 1, 100])
def test_the_picture_fits_any_terminal(width: int, height: int, rows: int) -> None:
    for part in (None, *PARTS):
        console = Console(width=width, height=height, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
        console.print(draw(_overview(rows), width=width, height=height, part=part, note="paused", keys=True))
        lines = console.export_text().splitlines()
        console.file.close()
        assert len(lines) == height
        assert max(map(len, lines)) <= width
        assert lines[-1].startswith("q quit")
        # Names are what rows are told by.
        for name, said in zip(
            PARTS, ("queue [0]xxxxxxx", "7 (worker 0, pid 1)", "build 0", "send 0", "pay 0"), strict=True
        ):
            assert not rows or part != name or any(said in line for line in lines), (part, lines)
        if rows and height >= 24 and width >= 80 and part in (None, "scopes"):
            assert any("2,310 of 2,337" in line for line in lines)


def test_lines_that_one_part_does_not_need_go_to_others() -> None:
    assert allot([1, 100, 2, 100], 20) == [1, 9, 2, 8]
    assert allot([5, 5], 1) == [1, 1]
    assert allot([3], 20) == [3]


def test_the_end_of_a_scope_is_estimated_by_its_last_minute() -> None:
    scope: dict[str, Any] = {"done": 50, "total": 100, "seconds": 100.0}
    assert estimate(scope) == 100
    assert estimate({**scope, "recent_done": 10, "recent_seconds": 5.0}) == 25
    assert estimate({**scope, "done": 0}) is None


def test_every_state_has_a_different_colour_and_shape() -> None:
    states = [str(state) for state in TaskState]
    assert len({STATE_SHAPES[state] for state in states}) == len(states)
    assert len({STATE_STYLES[state] for state in states}) == len(states)


def test_a_reader_may_look(committed: Engine, connect: Any) -> None:
    reader = connect()
    reader.execute("set role catchment_read")
    assert [row["queue"] for row in read_overview(reader, limit=5).queues] == ["bulk_changes", "maintenance", "work"]
