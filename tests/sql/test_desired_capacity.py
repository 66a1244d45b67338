"""worker.desired_capacity: what wants to run on a queue, by command, at a cost that does not grow with the backlog."""

from __future__ import annotations

import json
from typing import Any

import pytest
from psycopg import Connection

from tests.fixtures.cli import Run, read_json
from tests.fixtures.engine import Engine
from tests.sql.support import message, refused

EVERYTHING = "select command, ready, running, due_soon, desired from worker.desired_capacity('crowd')"


@pytest.fixture
def engine(tx: Connection[Any]) -> Engine:
    made = Engine(tx)
    made.queue("crowd", mode="concurrent")
    made.command("paint", "crowd", handler_kind="python")
    made.command("print", "crowd", handler_kind="python")
    return made


def _rows(engine: Engine, sql: str = EVERYTHING) -> list[tuple[Any, ...]]:
    return engine.conn.execute(sql).fetchall()  # type: ignore[arg-type]


def test_ready_running_and_soon_due_tasks_are_counted_by_command(engine: Engine) -> None:
    assert _rows(engine) == []
    for _ in range(3):
        engine.enqueue("paint")
    engine.enqueue("print")
    later = "select worker.enqueue('print', '{}', p_scheduled_at => now() + %s::interval)"
    engine.value(later, "30 seconds")
    engine.value(later, "1 hour")
    worker = engine.value("select worker_id from worker.register_worker('hand', '{}', 9, '1 hour', false, '{crowd}')")
    engine.conn.execute("select from worker.claim_tasks(%s, '{crowd}', 1)", [worker])
    assert _rows(engine) == [("paint", 2, 1, 0, 3), ("print", 1, 0, 1, 2)]
    assert _rows(engine, f"{EVERYTHING[:-1]}, '2 hours')")[1] == ("print", 1, 0, 2, 3)


def test_a_lane_counts_its_head_and_a_limit_what_it_allows(engine: Engine) -> None:
    for n in range(4):
        engine.enqueue("paint", lane="one" if n < 3 else "two")
    assert [row[-1] for row in _rows(engine)] == [2]
    engine.conn.execute("update worker.queue_registry set max_running = 3 where queue = 'crowd'")
    for _ in range(5):
        engine.enqueue("print")
    assert [row[-1] for row in _rows(engine)] == [2, 1]
    engine.conn.execute("update worker.queue_registry set max_running = null, rate = 4, rate_per = '1 hour'")
    assert [row[-1] for row in _rows(engine)] == [2, 2]
    worker = engine.value("select worker_id from worker.register_worker('hand', '{}', 9, '1 hour', false, '{crowd}')")
    engine.conn.execute("select from worker.claim_tasks(%s, '{crowd}', 3)", [worker])
    assert sum(row[-1] for row in _rows(engine)) == 4


def test_a_paused_queue_wants_what_runs_and_a_serial_one_a_single_task(engine: Engine) -> None:
    engine.enqueue("paint")
    engine.conn.execute("select worker.pause_queue('crowd', null)")
    assert _rows(engine) == []
    engine.queue("line")
    engine.command("draw", "line")
    for _ in range(3):
        engine.enqueue("draw")
    assert _rows(engine, EVERYTHING.replace("crowd", "line")) == [("draw", 1, 0, 0, 1)]


@pytest.mark.parametrize("most", ["-1", "0", "null"])
def test_a_limit_that_counts_nothing_or_everything_is_refused(engine: Engine, most: str) -> None:
    for queue in ("crowd", "unknown"):
        with refused(engine, "CM018") as error:
            _rows(engine, f"select * from worker.desired_capacity('{queue}', p_most => {most})")
        assert message(error) == f"p_most is {most}, expected a number from 1"


def _buffers(engine: Engine) -> int:
    """Pages that a call touches."""
    engine.conn.execute("analyze worker.ready")
    (plan,) = _rows(
        engine, "explain (analyze, buffers, format json) select * from worker.desired_capacity('crowd', p_most => 100)"
    )
    text = plan[0] if isinstance(plan[0], list) else json.loads(plan[0])
    return text[0]["Plan"]["Shared Hit Blocks"] + text[0]["Plan"]["Shared Read Blocks"]


def _crowd(engine: Engine, count: int) -> None:
    lanes = "array(select 'lane ' || n %% 50 from generate_series(1, %(n)s) as n)"
    for command, lane in (("paint", "null"), ("print", lanes)):
        payloads = "array_fill('{}'::jsonb, array[%(n)s::integer])"
        sql = f"select worker.enqueue_many('{command}', {payloads}, p_lanes => {lane})"
        engine.conn.execute(sql, {"n": count})  # type: ignore[arg-type]


def _check_cost(engine: Engine, few: int, many: int) -> tuple[int, int]:
    _crowd(engine, few)
    _buffers(engine)  # plans
    before = _buffers(engine)
    _crowd(engine, many)
    _buffers(engine)
    after = _buffers(engine)
    assert after < 2 * before + 200
    return before, after


def test_a_call_reads_as_much_with_ten_thousand_tasks_as_with_a_few_hundred(engine: Engine) -> None:
    _check_cost(engine, 500, 5_000)


@pytest.mark.long
def test_a_call_reads_as_much_with_a_million_tasks(engine: Engine) -> None:
    before, after = _check_cost(engine, 500, 500_000)
    (plan,) = _rows(engine, "explain (analyze, format json) select * from worker.desired_capacity('crowd')")
    text = plan[0] if isinstance(plan[0], list) else json.loads(plan[0])
    print(f"pages {before} -> {after}; with p_most 10,000: {text[0]['Execution Time']:.0f} ms")


def test_the_command_line_says_the_same(committed: Engine, cli: Run) -> None:
    committed.queue("crowd", mode="concurrent")
    committed.command("paint", "crowd", handler_kind="python")
    committed.enqueue("paint")
    said = read_json(cli("queue", "capacity", "crowd", "--json"))
    assert (said["queue"], said["desired"], said["commands"][0]["ready"]) == ("crowd", 1, 1)
    refused = cli("queue", "capacity", "crowdy", code=1).stderr
    assert "unknown queue 'crowdy'" in refused
    assert "Did you mean crowd?" in refused
